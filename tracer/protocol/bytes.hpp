// SPDX-License-Identifier: Apache-2.0
// Little-endian numbers and varints, which all frames consist of. Both sides of the line use these.
//
// A Writer does not check its room: the caller knows a bound (the pump knows a frame's room). A
// Reader accepts any bytes. At the end of the bytes it stays there, returns zeros, and ok() becomes
// false. So a parser checks ok() once, at its end.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nopscope::protocol {

using Byte = std::uint8_t;

inline constexpr std::size_t max_varint_bytes = 10;

// Small magnitudes of either sign become small unsigned numbers: 0, -1, 1, -2 -> 0, 1, 2, 3.
constexpr std::uint64_t zigzag(std::int64_t value) {
    return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
constexpr std::int64_t unzigzag(std::uint64_t value) {
    return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

class Writer {
public:
    constexpr explicit Writer(Byte* at) : begin_(at), at_(at) {}

    template <typename T>
    constexpr void fixed(T value) {
        auto bits = static_cast<std::uint64_t>(value);
        for (std::size_t i = 0; i < sizeof(T); ++i, bits >>= 8) *at_++ = static_cast<Byte>(bits);
    }
    constexpr void varint(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7) *at_++ = static_cast<Byte>(value | 0x80);
        *at_++ = static_cast<Byte>(value);
    }
    constexpr void bytes(const Byte* from, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) *at_++ = from[i];
    }
    constexpr std::size_t size() const { return static_cast<std::size_t>(at_ - begin_); }

private:
    Byte* begin_;
    Byte* at_;
};

class Reader {
public:
    constexpr Reader(const Byte* from, std::size_t count) : at_(from), end_(from + count) {}

    template <typename T>
    constexpr T fixed() {
        if (left() < sizeof(T)) return fail<T>();
        std::uint64_t bits = 0;
        for (std::size_t i = 0; i < sizeof(T); ++i) {
            bits |= static_cast<std::uint64_t>(*at_++) << (8 * i);
        }
        return static_cast<T>(bits);
    }
    // An error if the varint is longer than 64 bits, or incomplete.
    constexpr std::uint64_t varint() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            if (at_ == end_) return fail<std::uint64_t>();
            const Byte byte = *at_++;
            if (shift == 63 && byte > 1) return fail<std::uint64_t>();
            value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
            if (byte < 0x80) return value;
        }
        return fail<std::uint64_t>();
    }
    // Returns the address of the next `count` bytes, or nullptr.
    constexpr const Byte* bytes(std::size_t count) {
        if (left() < count) return fail<const Byte*>();
        const Byte* here = at_;
        at_ += count;
        return here;
    }
    constexpr std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
    constexpr bool ok() const { return ok_; }

private:
    template <typename T>
    constexpr T fail() {
        ok_ = false;
        at_ = end_;
        return T{};
    }
    const Byte* at_;
    const Byte* end_;
    bool ok_ = true;
};

}  // namespace nopscope::protocol
