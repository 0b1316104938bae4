// SPDX-License-Identifier: Apache-2.0
// The .nsc recording's layout (docs/nsc-format.md): a file header, then chunks, each with a CRC of
// its header and one of its payload. If the file's end is missing, the rest is valid.
//
// The chunks hold the calls of a SessionReader to its sink. The recorder decodes the line once, so
// a reader of the file only has to unpack.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace nopscope::host::nsc {

inline constexpr std::uint8_t magic[8] = {0x89, 'N', 'S', 'C', '\r', '\n', 0x1a, '\n'};
inline constexpr std::uint16_t version = 2;
inline constexpr std::size_t file_header_bytes = 16;
inline constexpr std::size_t chunk_header_bytes = 16;
inline constexpr std::uint32_t max_payload_bytes = std::uint32_t{1} << 26;

enum class Type : std::uint32_t {  // four letters, the first in the lowest byte
    about = 0x54554241,            // ABUT: About
    symbols = 0x424d5953,          // SYMB
    session = 0x53534553,          // SESS: a hello
    trace = 0x45435254,            // TRCE: a block of one core's records
    items = 0x4d455449,            // ITEM: all other data from the line, in order
    counters = 0x4e554f43,         // COUN: received and lost so far
    end = 0x21444e45,              // END!
};

inline constexpr int zstd_level = 6;
// The most bytes that a compressed payload may unpack to.
inline constexpr std::size_t max_body_bytes = std::size_t{1} << 23;

enum class Item : std::uint8_t {
    stats = 1,            // a stats frame's payload
    profile = 2,          // a profile frame's payload
    console = 3,          // the firmware's console output
    raw_text = 4,         // text between the frames
    corrupt = 5,          // bytes between two delimiters that are not a frame, or a part of them
    unused = 6,           // a frame that the reader could not use: header and payload
    missing = 7,          // MissingPart
    reply = 8,            // a reply frame's payload
    moved = 9,            // a moved frame's payload
    profile_events = 10,  // a profile_events frame's payload
    clock_pair = 11,      // ClockPair
    tasks = 12,           // a tasks frame's payload
};

struct About {
    std::string source;  // the URI
    std::string tool;    // "nopscope 0.1"
    std::uint64_t started_unix_ns = 0;
};

enum class EndReason : std::uint8_t {
    line_closed = 0,
    target_finished = 1,  // every core sent its final stats
    interrupted = 2,
    duration = 3,
    rotated = 4,  // the recording goes on in another file
};

struct End {
    EndReason reason{};
    std::int32_t exit_status = -1;  // of exec:'s command; -1: no command, or the recorder ended it
    std::uint64_t line_bytes = 0;
};

}  // namespace nopscope::host::nsc
