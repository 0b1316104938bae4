// SPDX-License-Identifier: Apache-2.0
// A recording while it is written. A killed recorder loses a quarter of a second at most.
#pragma once

#include <functional>
#include <string>

#include "host-tools/figures/profile/profile.hpp"
#include "host-tools/live/line.hpp"
#include "host-tools/recording/journal.hpp"

namespace nopscope::host {

// Returns 0 if a count has shrunk: records that were missing may have arrived since.
constexpr std::uint64_t since(std::uint64_t now, std::uint64_t before) {
    return now > before ? now - before : 0;
}

// A reader's counters from a moment on.
class CountersSince {
public:
    // Without a call of it, the counters are those since the reader's begin.
    void begin(const SessionReader& reader);

    StreamCounters stream(const SessionReader& reader) const;
    LineCounters line(const SessionReader& reader) const;

private:
    LineCounters line_before_;
    StreamCounters stream_before_;
};

class LiveRecording {
public:
    // Replaces `path` when a session is heard; the old file becomes `path`.old (NewFile). Without a
    // session, no file is left. `source`: the line's URI. `symbols`: of the image, or null. Throws
    // Error, also if `path`, or a file beside it that would be replaced, is not a recording.
    LiveRecording(const std::string& path, const std::string& source, const Symbols* symbols);

    // Begins in the middle of the reader's session, if the reader has one. Earlier records are not
    // in this file. `context_of`: the context that a core runs after its last record.
    void begin_within(const SessionReader& reader,
                      const std::function<std::uint32_t(unsigned)>& context_of);

    // Begins where `before` ended, with all that `before` has not recorded.
    void begin_after(const LiveRecording& before, const SessionReader& reader);

    SessionSink& sink() { return journal_; }
    // Throws Error if something could not be written. Nothing was written after that.
    void flush(const SessionReader& reader);
    void flush_if_due(const SessionReader& reader, LineReader::Clock::time_point now);
    void end(const SessionReader& reader, nsc::EndReason reason, std::optional<int> exit_status);

    const std::string& path() const { return path_; }
    std::uint64_t file_bytes() const { return file_.bytes(); }
    // True once a session was heard and the file exists.
    bool has_file() const { return file_.file().is_in_place(); }
    // Counts since this recording began.
    StreamCounters stream(const SessionReader& reader) const { return counters_.stream(reader); }
    LineCounters line(const SessionReader& reader) const { return counters_.line(reader); }

private:
    bool begin_session(const SessionReader& reader);

    std::string path_;
    nsc::Writer file_;
    nsc::Journal journal_;
    LineReader::Clock::time_point flushed_ = LineReader::Clock::now();
    CountersSince counters_;
};

// True if the file begins as a recording does.
bool is_recording(const std::string& path);

}  // namespace nopscope::host
