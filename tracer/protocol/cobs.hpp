// SPDX-License-Identifier: Apache-2.0
// Consistent Overhead Byte Stuffing (Cheshire and Baker, SIGCOMM 1997). An encoded frame has no
// zero byte, so a zero byte ends it and a reader can start anywhere. It costs one byte, and one
// more for each 254 bytes without a zero.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nopscope::protocol {

constexpr std::size_t cobs_max_encoded(std::size_t count) { return count + count / 254 + 1; }

// Encodes `count` bytes to `to`, which has room for cobs_max_encoded(count) and does not overlap
// `from`. Returns the bytes written, without a delimiting zero.
constexpr std::size_t cobs_encode(const std::uint8_t* from, std::size_t count, std::uint8_t* to) {
    std::size_t code_at = 0;
    std::size_t at = 1;
    std::uint8_t code = 1;
    for (std::size_t i = 0; i < count; ++i) {
        if (from[i] != 0) {
            to[at++] = from[i];
            ++code;
        }
        if (from[i] == 0 || (code == 0xff && i + 1 < count)) {
            to[code_at] = code;
            code_at = at++;
            code = 1;
        }
    }
    to[code_at] = code;
    return at;
}

struct CobsResult {
    bool ok = false;
    std::size_t count = 0;
};

// Decodes `count` bytes (no delimiter) to `to`, which has room for `count` and may be `from`.
// Not ok: empty, a zero byte inside, or a block that reaches past the end.
constexpr CobsResult cobs_decode(const std::uint8_t* from, std::size_t count, std::uint8_t* to) {
    if (count == 0) return {};
    std::size_t out = 0;
    for (std::size_t at = 0; at < count;) {
        const std::uint8_t code = from[at];
        if (code == 0 || at + code > count) return {};
        for (std::size_t i = 1; i < code; ++i) {
            if (from[at + i] == 0) return {};
            to[out++] = from[at + i];
        }
        at += code;
        if (code != 0xff && at < count) to[out++] = 0;
    }
    return {true, out};
}

}  // namespace nopscope::protocol
