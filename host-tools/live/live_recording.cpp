// SPDX-License-Identifier: Apache-2.0
#include "host-tools/live/live_recording.hpp"

#include <cstring>
#include <filesystem>
#include <fstream>

#include "host-tools/base/error.hpp"
#include "host-tools/base/version.hpp"

namespace nopscope::host {

bool is_recording(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    char begin[sizeof nsc::magic] = {};
    return file.read(begin, sizeof begin) && std::memcmp(begin, nsc::magic, sizeof begin) == 0;
}

namespace {

constexpr std::chrono::milliseconds flush_interval{250};

// Checks that every file which would be replaced is a recording. Only one older file is kept, so a
// file of another kind must stay.
const std::string& checked(const std::string& path) {
    for (const std::string& each : {path, old_name(path), part_name(path)}) {
        std::error_code ignored;
        const bool has_contents = std::filesystem::is_regular_file(each, ignored) &&
                                  std::filesystem::file_size(each, ignored) != 0;
        if (has_contents && !is_recording(each)) {
            throw Error(each +
                        " is there and is no recording, and would be replaced: move it away, or "
                        "give another name");
        }
    }
    return path;
}

}  // namespace

LiveRecording::LiveRecording(const std::string& path, const std::string& source,
                             const Symbols* symbols)
    : path_(checked(path)),
      file_(path,
            {.source = source,
             .tool = std::string("nopscope ") + version_text,
             .started_unix_ns = utc_now_ns()},
            NewFile::Place::later),
      journal_(file_) {
    if (symbols != nullptr) file_.symbols(*symbols);
}

void LiveRecording::begin_within(const SessionReader& reader,
                                 const std::function<std::uint32_t(unsigned)>& context_of) {
    if (!begin_session(reader)) return;
    for (unsigned core = 0; core < reader.hello().cores; ++core) {
        if (const auto at = reader.position_of(core)) {
            journal_.begin_at(core, at->next_index, at->clock, context_of(core));
        }
    }
}

void LiveRecording::begin_after(const LiveRecording& before, const SessionReader& reader) {
    if (begin_session(reader)) journal_.begin_after(before.journal_);
}

// Returns false if there is no session.
bool LiveRecording::begin_session(const SessionReader& reader) {
    counters_.begin(reader);
    if (!reader.has_session()) return false;
    journal_.on_session(reader.hello());
    return true;
}

void LiveRecording::flush(const SessionReader& reader) {
    journal_.flush(line(reader), stream(reader), utc_now_ns());
}

void LiveRecording::flush_if_due(const SessionReader& reader, LineReader::Clock::time_point now) {
    if (now - flushed_ < flush_interval) return;
    flush(reader);
    flushed_ = now;
}

void LiveRecording::end(const SessionReader& reader, nsc::EndReason reason,
                        std::optional<int> exit_status) {
    flush(reader);
    file_.end({.reason = reason,
               .exit_status = exit_status.value_or(-1),
               .line_bytes = line(reader).bytes});
}

void CountersSince::begin(const SessionReader& reader) {
    line_before_ = reader.line();
    stream_before_ = reader.counters();
    if (reader.has_session()) --stream_before_.sessions;  // it goes on
}

StreamCounters CountersSince::stream(const SessionReader& reader) const {
    StreamCounters stream = reader.counters();
    for (const auto field : stream_fields)
        stream.*field = since(stream.*field, stream_before_.*field);
    stream.generated_at_least = reader.counters().generated_at_least;
    for (std::size_t i = 0; i < stream.frames_by_stream.size(); ++i) {
        stream.frames_by_stream[i] =
            since(stream.frames_by_stream[i], stream_before_.frames_by_stream[i]);
    }
    return stream;
}

LineCounters CountersSince::line(const SessionReader& reader) const {
    LineCounters line = reader.line();
    for (const auto field : line_fields) line.*field = since(line.*field, line_before_.*field);
    return line;
}

}  // namespace nopscope::host
