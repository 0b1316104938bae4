// SPDX-License-Identifier: Apache-2.0
// Consistent Overhead Byte Stuffing (Cheshire and Baker, SIGCOMM 1997). An encoded frame has no
// zero byte, so a zero byte ends it and a reader can start anywhere. It costs one byte, and one
// more for each 254 bytes without a zero.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nopscope::protocol {

constexpr std::size_t cobs_max_encoded(std::size_t count) { return count + count / 254 + 1; }

// Encodes bytes piece by piece to `to`, which has room for cobs_max_encoded(all bytes) and does not
// overlap `from`.
class CobsEncoder {
public:
    constexpr void start(std::uint8_t* to) { *this = CobsEncoder(to); }
    // `last`: more bytes than these do not follow.
    constexpr void add(const std::uint8_t* from, std::size_t count, bool last) {
        std::size_t code_at = code_at_, at = at_;
        std::uint8_t code = code_;
        for (std::size_t i = 0; i < count; ++i) {
            if (from[i] != 0) {
                to_[at++] = from[i];
                ++code;
            }
            if (from[i] == 0 || (code == 0xff && !(last && i + 1 == count))) {
                to_[code_at] = code;
                code_at = at++;
                code = 1;
            }
        }
        to_[code_at] = code;
        code_at_ = code_at;
        at_ = at;
        code_ = code;
    }
    // The bytes written, without a delimiting zero.
    constexpr std::size_t size() const { return at_; }

    constexpr CobsEncoder() = default;

private:
    constexpr explicit CobsEncoder(std::uint8_t* to) : to_(to) {}

    std::uint8_t* to_ = nullptr;
    std::size_t code_at_ = 0;
    std::size_t at_ = 1;
    std::uint8_t code_ = 1;
};

// Encodes all bytes at once. Returns the bytes written.
constexpr std::size_t cobs_encode(const std::uint8_t* from, std::size_t count, std::uint8_t* to) {
    CobsEncoder encoder;
    encoder.start(to);
    encoder.add(from, count, true);
    return encoder.size();
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
