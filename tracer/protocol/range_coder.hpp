// SPDX-License-Identifier: Apache-2.0
// A binary range coder (Martin 1979; Subbotin). A decision of probability p costs -log2(p) bits.
// The probability then moves towards the decision.
//
// The interval is [low, low + range) of 56 bits; the output has the most significant bits first.
// When range falls below 2^24, the upper 32 bits of low go to the output. Only a carry may change
// them later, so carry() adds it to bytes already written. A decoder reads zeros after the end, so
// finish() writes only as many bytes as a number within the interval needs.
//
// RangeEncoder and RangeDecoder have the same members, so one template of a model both encodes and
// decodes. bit() takes the decision (the decoder ignores it) and returns it.
#pragma once

#include "tracer/protocol/bytes.hpp"

namespace nopscope::protocol {

using Probability = std::uint16_t;  // that the bit is one, in 65536ths; stays within 31..65504
inline constexpr Probability even_odds = 1 << 15;

inline constexpr unsigned range_bits = 56;
inline constexpr unsigned settled_bits = 32;  // go to the output together
inline constexpr std::uint64_t least_range = std::uint64_t{1} << (range_bits - settled_bits);
inline constexpr unsigned adaption_shift = 4;  // how fast probabilities move: docs/codec.md
inline constexpr unsigned max_plain_bits = 16;
inline constexpr std::size_t max_flush_bytes = range_bits / 8;

// What a model spends its bits on. Only a measuring coder uses it.
enum class Spent : std::uint8_t { identity, time };

// Steps are even numbers, so the lowest bit never changes: the model may keep a flag in it.
constexpr Probability more_likely(std::uint32_t p) {
    return static_cast<Probability>(p + 2 * ((0xffff - p) >> (adaption_shift + 1)));
}
constexpr Probability less_likely(std::uint32_t p) {
    return static_cast<Probability>(p - 2 * (p >> (adaption_shift + 1)));
}

class RangeEncoder {
public:
    static constexpr bool encodes = true;

    RangeEncoder() = default;
    // Copies member by member: GCC copies a whole object through memory, but members in registers.
    RangeEncoder(const RangeEncoder& of) : low_(of.low_), range_(of.range_), at_(of.at_) {}
    RangeEncoder& operator=(const RangeEncoder& of) {
        low_ = of.low_;
        range_ = of.range_;
        at_ = of.at_;
        return *this;
    }

    void start(Byte* to) {
        at_ = to;
        low_ = 0;
        range_ = std::uint64_t{1} << range_bits;
    }
    const Byte* at() const { return at_; }

    [[gnu::always_inline]] bool bit(Probability& p, bool one) {
        const std::uint32_t before = p;
        const std::uint64_t bound = (range_ >> 16) * before;
        if (one) {
            range_ = bound;
            p = more_likely(before);
        } else {
            low_ += bound;
            range_ -= bound;
            p = less_likely(before);
        }
        if (range_ < least_range) [[unlikely]]
            settle();
        return one;
    }

    // Writes the low `count` bits of value, at most max_plain_bits. Each costs one bit.
    std::uint32_t plain(std::uint32_t value, unsigned count) {
        value &= (1u << count) - 1;
        range_ >>= count;
        low_ += value * range_;
        if (range_ < least_range) settle();
        return value;
    }

    static void spent_on(Spent) {}

    // Writes at most max_flush_bytes, and returns where the output ends.
    Byte* finish() {
        unsigned open = range_bits;  // low bits that are not written: the decoder reads zeros
        std::uint64_t number = 0;
        do {
            open -= 8;
            const std::uint64_t below = (std::uint64_t{1} << open) - 1;
            number = (low_ + below) & ~below;
        } while (number - low_ >= range_);
        carry(number);
        for (unsigned shift = range_bits; shift > open;) {
            shift -= 8;
            *at_++ = static_cast<Byte>(number >> shift);
        }
        return at_;
    }

private:
    // Adds a carry to the bytes written. It ends there: the whole output is a fraction below 1.
    void carry(std::uint64_t number) {
        if ((number >> range_bits) == 0) return;
        for (Byte* back = at_ - 1; ++*back == 0;) --back;
    }
    void settle() {
        carry(low_);
        for (unsigned i = 8; i <= settled_bits; i += 8) {
            *at_++ = static_cast<Byte>(low_ >> (range_bits - i));
        }
        low_ = (low_ & (least_range - 1)) << settled_bits;
        range_ <<= settled_bits;
    }

    std::uint64_t low_ = 0;  // bit 56 is the carry
    std::uint64_t range_ = 0;
    Byte* at_ = nullptr;
};

class RangeDecoder {
public:
    static constexpr bool encodes = false;

    RangeDecoder() = default;
    RangeDecoder(const RangeDecoder& of)
        : code_(of.code_), range_(of.range_), at_(of.at_), end_(of.end_) {}
    RangeDecoder& operator=(const RangeDecoder& of) {
        code_ = of.code_;
        range_ = of.range_;
        at_ = of.at_;
        end_ = of.end_;
        return *this;
    }

    void start(const Byte* from, std::size_t count) {
        at_ = from;
        end_ = from + count;
        range_ = std::uint64_t{1} << range_bits;
        code_ = 0;
        for (unsigned i = 0; i < range_bits; i += 8) code_ = code_ << 8 | next();
    }

    [[gnu::always_inline]] bool bit(Probability& p, bool = false) {
        const std::uint32_t before = p;
        const std::uint64_t bound = (range_ >> 16) * before;
        const bool one = code_ < bound;
        if (one) {
            range_ = bound;
            p = more_likely(before);
        } else {
            code_ -= bound;
            range_ -= bound;
            p = less_likely(before);
        }
        if (range_ < least_range) [[unlikely]]
            settle();
        return one;
    }

    static void spent_on(Spent) {}

    std::uint32_t plain(std::uint32_t, unsigned count) {
        range_ >>= count;
        // Bit by bit, without a division. Plain bits are rare enough.
        std::uint32_t value = 0;
        for (unsigned i = count; i-- > 0;) {
            const std::uint64_t part = range_ << i;
            value <<= 1;
            if (code_ >= part) {
                code_ -= part;
                value |= 1;
            }
        }
        if (range_ < least_range) settle();
        return value;
    }

private:
    Byte next() { return at_ == end_ ? Byte{0} : *at_++; }
    void settle() {
        for (unsigned i = 0; i < settled_bits; i += 8) code_ = code_ << 8 | next();
        range_ <<= settled_bits;
    }

    std::uint64_t code_ = 0;  // the encoded number minus the encoder's low; below range_
    std::uint64_t range_ = 0;
    const Byte* at_ = nullptr;
    const Byte* end_ = nullptr;
};

}  // namespace nopscope::protocol
