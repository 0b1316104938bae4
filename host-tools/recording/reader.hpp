// SPDX-License-Identifier: Apache-2.0
// Reads a recording, whole or damaged, or a raw capture of the line (any file that has neither the magic nor a chunk in
// its first 64 KiB).
// Whatever the file's size, no more of it than one chunk is in memory.
//
// Total: a chunk whose payload is damaged is counted and left out, and the records of it are lost; a
// damaged chunk header makes the reader look for the next good one, and count what it passed. One wrong byte of the
// file's header, of a chunk's, or of what the rest depends on (session, symbols, about) is put right by its CRC, and
// counted.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host-tools/image/symbols.hpp"
#include "host-tools/target/stream/session.hpp"
#include "host-tools/recording/format.hpp"

namespace nopscope::host::nsc {

class Replay;

struct FileCounters {
    std::uint64_t damaged_chunks = 0;
    std::uint64_t skipped_bytes = 0;  // no chunk could be made of them
    std::uint64_t cut_bytes = 0;      // of a last chunk that is not whole
    std::uint64_t unknown_chunks = 0;
    bool is_raw = false;   // no recording, but a capture
    bool has_end = false;  // false: the recorder was killed, or the file was cut
};

// What is known of a recording besides what was told.
struct Counters {
    FileCounters file;
    LineCounters line;
    StreamCounters stream;
};

class Reader {
public:
    // Fills up to all of the bytes; returns how many; 0 at the end.
    using Input = std::function<std::size_t(std::span<std::uint8_t>)>;

    // Tells `sink` what the recorder's was told. Throws Error only for a file format version it
    // does not know.
    void read(const Input& input, SessionSink& sink);
    // The file at `path`, - for standard input; throws Error when it cannot be read.
    // `read_so_far` is told of each piece: the bytes read, and those of the file, 0 where it has no length.
    using ReadSoFar = std::function<void(std::uint64_t bytes, std::uint64_t total)>;
    void read_file(const std::string& path, SessionSink& sink, const ReadSoFar& read_so_far = {});

    const Counters& counters() const { return counters_; }
    const std::optional<About>& about() const { return about_; }
    const std::optional<Symbols>& symbols() const { return symbols_; }
    const std::optional<End>& end() const { return end_; }

private:
    bool fill(const Input& input, std::size_t count);
    void consume(std::size_t count);
    bool read_head(const Input& input);
    bool has_chunk(const Input& input);
    void read_line(const Input& input, SessionSink& sink);
    void read_chunks(const Input& input, SessionSink& sink);
    bool repair_header(const Input& input);
    bool payload(Type type, std::span<const std::uint8_t> bytes, Replay& replay);
    bool read_about(protocol::Reader in);
    static bool read_functions(protocol::Reader& in, std::vector<Function>& functions);
    bool read_symbols(protocol::Reader in);
    bool read_tails(protocol::Reader& in, Symbols& symbols);
    bool read_end(protocol::Reader in);

    std::vector<std::uint8_t> buffer_;
    std::size_t at_ = 0;
    Counters counters_;
    std::optional<About> about_;
    std::optional<Symbols> symbols_;
    std::optional<End> end_;
};

}  // namespace nopscope::host::nsc
