// SPDX-License-Identifier: Apache-2.0
// Reads a recording, complete or damaged, or a raw capture of the line. A raw capture is any file
// that has neither the magic nor a chunk in its first 64 KiB. Memory holds about one chunk of it.
//
//   damaged payload   The reader counts the chunk and leaves it out: its records are lost.
//   damaged header    The reader searches the next good one, and counts the bytes that it skips.
//   one wrong byte    In a chunk's header, or in a payload that others need (session, symbols,
//                     about), the reader repairs it by the CRC and counts the chunk as damaged.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host-tools/base/error.hpp"
#include "host-tools/image/symbols.hpp"
#include "host-tools/line/stream/session.hpp"
#include "host-tools/recording/format.hpp"

namespace nopscope::host::nsc {

class Replay;

struct FileCounters {
    std::uint64_t damaged_chunks = 0;
    std::uint64_t skipped_bytes = 0;  // not part of a readable chunk
    std::uint64_t cut_bytes = 0;      // of a last chunk that is incomplete
    std::uint64_t unknown_chunks = 0;
    bool is_raw = false;   // the file is a raw capture
    bool has_end = false;  // false: the recorder was killed, or the file's end is missing
};

// Counters of the recording's file, and of the line while it was recorded.
struct Counters {
    FileCounters file;
    LineCounters line;
    StreamCounters stream;
};

class Reader {
public:
    // Fills some or all of the bytes; returns how many; 0 at the end.
    using Input = std::function<std::size_t(std::span<std::uint8_t>)>;

    // Passes no trace on, which takes nearly all of the time; a raw capture's all the same. Call it
    // before read().
    void leave_out_records() { has_records_ = false; }
    // Passes only sessions and each core's first records on; of a raw capture, all the same.
    void only_first_records() { only_first_ = true; }
    // Calls `sink` as the SessionReader called the recorder's sink. Fails for an unknown version of
    // the file format, without memory, and if the sink does.
    Result<> read(const Input& input, SessionSink& sink);
    // Reads the file at `path`, or standard input for "-". Fails as read(), and if it cannot be
    // read. Calls `read_so_far` after each piece with the bytes so far and the file's size (0: it
    // has none).
    using ReadSoFar = std::function<void(std::uint64_t bytes, std::uint64_t total)>;
    Result<> read_file(const std::string& path, SessionSink& sink,
                       const ReadSoFar& read_so_far = {});

    const Counters& counters() const { return counters_; }
    const std::optional<About>& about() const { return about_; }
    const std::optional<Symbols>& symbols() const { return symbols_; }
    const std::optional<End>& end() const { return end_; }

private:
    bool fill(const Input& input, std::size_t count);
    Result<bool> read_head(const Input& input);
    bool has_chunk(const Input& input);
    Result<> read_line(const Input& input, SessionSink& sink);
    Result<> read_chunks(const Input& input, SessionSink& sink);
    bool repair_header(const Input& input);
    bool payload(Type type, std::span<const std::uint8_t> bytes, Replay& replay);
    bool read_about(protocol::Reader in);
    static bool read_functions(protocol::Reader& in, std::vector<Function>& functions);
    bool read_symbols(protocol::Reader in);
    bool read_tails(protocol::Reader& in, Symbols& symbols);
    static void read_aliases(protocol::Reader& in, Symbols& symbols);
    bool read_end(protocol::Reader in);

    std::vector<std::uint8_t> buffer_;
    std::size_t at_ = 0;
    bool has_records_ = true;
    bool only_first_ = false;
    Counters counters_;
    std::optional<About> about_;
    std::optional<Symbols> symbols_;
    std::optional<End> end_;
};

}  // namespace nopscope::host::nsc
