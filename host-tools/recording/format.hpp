// SPDX-License-Identifier: Apache-2.0
// The .nsc recording's layout (docs/nsc-format.md): a file header, then chunks, each with a CRC of
// its header and one of its payload. Append-only: whatever is cut off the end, the rest is valid.
//
// What it holds is what a SessionReader told: the line is decoded once, while it is recorded, and a
// reader of the file has only to unpack.
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
    about = 0x54554241,            // ABUT: where and when
    symbols = 0x424d5953,          // SYMB
    session = 0x53534553,          // SESS: a hello
    trace = 0x45435254,            // TRCE: a block of one core's records
    items = 0x4d455449,            // ITEM: everything else that was heard, in order
    counters = 0x4e554f43,         // COUN: what had been heard and lost by then
    end = 0x21444e45,              // END!
};

inline constexpr int zstd_level = 6;
// Of the contents of a compressed payload.
inline constexpr std::size_t max_body_bytes = std::size_t{1} << 23;

enum class Item : std::uint8_t {
    stats = 1,     // a stats frame's payload
    profile = 2,   // a profile frame's payload
    console = 3,   // of the firmware
    raw_text = 4,  // text in between the frames
    corrupt = 5,   // bytes between two delimiters that are no frame, or a part of them
    unused = 6,    // a frame that could not be used, all of it: header and payload
    missing = 7,   // MissingPart
    reply = 8,     // a reply frame's payload
    moved = 9,     // a moved frame's
    profile_events = 10,  // a profile_events frame's
    clock_pair = 11,      // ClockPair
};

struct About {
    std::string source;  // the URI
    std::string tool;    // "nopscope 0.1"
    std::uint64_t started_unix_ns = 0;
};

enum class EndReason : std::uint8_t {
    line_closed = 0,
    target_finished = 1,  // final stats of every core were seen
    interrupted = 2,
    duration = 3,
    rotated = 4,  // the recording goes on in another file
};

struct End {
    EndReason reason{};
    std::int32_t exit_status = -1;  // of exec:'s command; -1: there was none, or it was ended
    std::uint64_t line_bytes = 0;
};

}  // namespace nopscope::host::nsc
