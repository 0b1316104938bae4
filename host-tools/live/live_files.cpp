// SPDX-License-Identifier: Apache-2.0
// The recordings of a live line: one that was asked for, and a temporary one to save.
#include "host-tools/base/error.hpp"
#include "host-tools/live/live.hpp"

namespace nopscope::host {

void Live::write_tape(LineReader::Clock::time_point now) {
    if (!recording_) return;
    try {
        recording_->flush_if_due(line_->reader(), now);
    } catch (const Error& error) {
        last_recording_ = recording_locked();
        last_recording_.on = false;
        last_recording_.error = error.what();
        tee_.remove(recording_->sink());
        recording_.reset();
    }
}

// A failed write leaves what was written before.
void Live::write_saved(LineReader::Clock::time_point now) {
    if (!saved_ || is_saved_full_) return;
    try {
        saved_->flush_if_due(line_->reader(), now);
        if (saved_->file_bytes() < options_.most_saved_bytes) return;
        note_ = "no more is recorded: the temporary file is full (-o FILE records all)";
    } catch (const Error& error) {
        note_ = std::string("no more is recorded: ") + error.what();
    }
    is_saved_full_ = true;
    tee_.remove(saved_->sink());
}

SavedRecording Live::saved() {
    const std::lock_guard lock(mutex_);
    LiveRecording* const recording = recording_ ? recording_.get() : saved_.get();
    if (recording == nullptr || line_->reader().counters().sessions == 0)
        throw Error("nothing is recorded yet");
    if (recording_ || !is_saved_full_) recording->flush(line_->reader());
    return recording->saved(line_->reader(), reason_of_end());
}

void Live::start_recording(const std::string& path) {
    const std::lock_guard lock(mutex_);
    if (recording_) throw Error("a recording is on already, to " + recording_->path(), Exit::usage);
    if (end_state_ != LineState::waiting)
        throw Error("there is nothing to record: " + end_sentence_);
    recording_ = std::make_unique<LiveRecording>(path, options_.line.from, symbols());
    recording_->begin_within(line_->reader(), [this](unsigned core) {
        return figures_.waiting_context(core).value_or(profile_.context_of(core));
    });
    tee_.add(recording_->sink());
}

SideRecording Live::stop_recording() {
    const std::lock_guard lock(mutex_);
    if (!recording_) throw Error("no recording is on", Exit::usage);
    end_recording(reason_of_end());
    if (!last_recording_.error.empty()) throw Error(last_recording_.error);
    return last_recording_;
}

nsc::EndReason Live::reason_of_end() const {
    const bool is_over = end_state_ != LineState::waiting && !stop_;
    return is_over ? nsc::EndReason::line_closed : nsc::EndReason::interrupted;
}

void Live::end_recording(nsc::EndReason reason) {
    last_recording_ = recording_locked();
    last_recording_.on = false;
    const std::unique_ptr<LiveRecording> recording = std::move(recording_);
    tee_.remove(recording->sink());
    try {
        recording->end(line_->reader(), reason, std::nullopt);
        last_recording_.file_bytes = recording->file_bytes();
        if (!recording->has_file())
            last_recording_.error =
                "no session was heard: nothing is recorded into " + recording->path();
    } catch (const Error& error) {
        last_recording_.error = error.what();
    }
}

SideRecording Live::recording_locked() const {
    if (!recording_) return last_recording_;
    return {.path = recording_->path(),
            .on = true,
            .line_bytes = recording_->line(line_->reader()).bytes,
            .file_bytes = recording_->file_bytes(),
            .records = recording_->stream(line_->reader()).delivered,
            .error = {}};
}

}  // namespace nopscope::host
