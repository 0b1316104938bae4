// SPDX-License-Identifier: Apache-2.0
// A recording while it is written: at least four times a second, so a killed recorder loses a quarter of one.
#pragma once

#include <chrono>
#include <string>

#include "host-tools/live/line.hpp"
#include "host-tools/recording/journal.hpp"
#include "host-tools/analysis/profile/profile.hpp"

namespace nopscope::host {

class LiveRecording {
public:
    // Takes the place of `path` once a session is heard: what was there becomes `path`.old
    // (NewFile). Without a session no file is left. `source`: the line's URI; `symbols`: null, or
    // of the image. Throws Error, also if `path`, or a file that would be replaced beside it, is no
    // recording.
    LiveRecording(const std::string& path, const std::string& source, const Symbols* symbols);

    // What has been told so far is not for it: begins in the middle of the reader's session, if that has one.
    // `profile` was told what the reader told.
    void begin_within(const SessionReader& reader, const Profile& profile);

    // The same, with what `before` has not been told: it has ended.
    void begin_after(const LiveRecording& before, const SessionReader& reader);

    SessionSink& sink() { return journal_; }
    // Throws Error: something could not be written, since when nothing more has been.
    void flush(const SessionReader& reader);
    void flush_if_due(const SessionReader& reader, LineReader::Clock::time_point now);
    void end(const SessionReader& reader, nsc::EndReason reason, std::optional<int> exit_status);

    const std::string& path() const { return path_; }
    std::uint64_t file_bytes() const { return file_.bytes(); }
    // True once a session was heard: then the file is there.
    bool has_file() const { return file_.file().is_in_place(); }
    // Since it began.
    StreamCounters stream(const SessionReader& reader) const;
    LineCounters line(const SessionReader& reader) const;

private:
    bool begin_session(const SessionReader& reader);

    std::string path_;
    nsc::Writer file_;
    nsc::Journal journal_;
    LineReader::Clock::time_point flushed_ = LineReader::Clock::now();
    LineCounters line_before_;
    StreamCounters stream_before_;
};

// True if the file begins as a recording does.
bool is_recording(const std::string& path);

}  // namespace nopscope::host
