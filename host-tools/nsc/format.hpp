// SPDX-License-Identifier: Apache-2.0
// The .nsc recording's layout (docs/nsc-format.md): a file header, then chunks, each with a CRC of
// its header and one of its payload. Append-only: whatever is cut off the end, the rest is valid.
#pragma once

#include <cstdint>
#include <string>

namespace nopscope::nsc {

inline constexpr std::uint8_t magic[8] = {0x89, 'N', 'S', 'C', '\r', '\n', 0x1a, '\n'};
inline constexpr std::uint16_t version = 1;
inline constexpr std::size_t file_header_bytes = 16;
inline constexpr std::size_t chunk_header_bytes = 16;
inline constexpr std::uint32_t max_payload_bytes = std::uint32_t{1} << 26;

enum class Type : std::uint32_t {  // four letters, the first in the lowest byte
    about = 0x54554241,            // ABUT: where and when
    symbols = 0x424d5953,          // SYMB
    line = 0x454e494c,             // LINE: bytes as captured
    end = 0x21444e45,              // END!
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
};

struct End {
    EndReason reason{};
    std::int32_t exit_status = -1;  // of exec:'s command; -1: there was none, or it was ended
    std::uint64_t line_bytes = 0;
};

}  // namespace nopscope::nsc
