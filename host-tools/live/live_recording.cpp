// SPDX-License-Identifier: Apache-2.0
#include "host-tools/live/live_recording.hpp"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
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

std::string new_temporary_file() {
    std::error_code ignored;
    std::string path = (std::filesystem::temp_directory_path(ignored) / "nopscope-XXXXXX").string();
    const int file = mkstemp(path.data());
    if (file < 0) throw Error("cannot make " + path + ": " + system_error(errno));
    close(file);
    return path;
}

}  // namespace

std::vector<std::uint8_t> SavedRecording::read(std::uint64_t offset, std::size_t most) const {
    if (offset >= file_bytes) {
        const std::size_t from = std::min<std::size_t>(offset - file_bytes, end.size());
        return {end.begin() + static_cast<long>(from),
                end.begin() + static_cast<long>(std::min(end.size(), from + most))};
    }
    std::vector<std::uint8_t> bytes(std::min<std::uint64_t>(most, file_bytes - offset));
    if (!file->read(offset, bytes)) throw Error("the recording was cut short on the disk");
    return bytes;
}

LiveRecording::LiveRecording(const std::string& path, const std::string& source,
                             const Symbols* symbols)
    : LiveRecording(checked(path), source, symbols, NewFile::Place::later) {}

LiveRecording::LiveRecording(const std::string& source, const Symbols* symbols)
    : LiveRecording(new_temporary_file(), source, symbols, NewFile::Place::at_once) {
    unlink(path_.c_str());
}

LiveRecording::LiveRecording(const std::string& path, const std::string& source,
                             const Symbols* symbols, NewFile::Place place)
    : path_(path),
      file_(path,
            {.source = source,
             .tool = std::string("nopscope ") + version_text,
             .started_unix_ns = utc_now_ns()},
            place),
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

SavedRecording LiveRecording::saved(const SessionReader& reader, nsc::EndReason reason) const {
    return {.file = file_.file().open_to_read(),
            .file_bytes = file_.bytes(),
            .end = nsc::Writer::end_chunk(
                {.reason = reason, .exit_status = -1, .line_bytes = line(reader).bytes})};
}

void LiveRecording::end(const SessionReader& reader, nsc::EndReason reason,
                        std::optional<int> exit_status) {
    flush(reader);
    file_.end({.reason = reason,
               .exit_status = exit_status.value_or(-1),
               .line_bytes = line(reader).bytes});
}

}  // namespace nopscope::host
