// SPDX-License-Identifier: Apache-2.0
// The record: 8 bytes, written to a ring by one store.
//
//     bits  0..31   low 32 bits of the clock, in ticks
//     bits 32..33   kind
//     bit  34       zero; in the ring, what tells a written slot from last lap's (see ring.hpp)
//     bits 35..63   payload, 29 bits, by kind:
//       call, entry   bits 3..31 of the address of the traced function's first instruction
//       ret           bit 35: unwound; bits 36..63: the low 28 bits of the record index of the
//                     entry that this return closes
//       extended      bits 35..38: Extended; bits 39..63: its argument
//
// A `call` is the function recorder's: a point in time, without a return. An `entry` is the graph
// recorder's and has exactly one `ret`, unless the function never returned. A `ret` names its entry
// by identity, not by depth: a decoder that lost anything in between still knows which open call
// ended, and nested interrupts cannot confuse it.
#pragma once

#include <cstdint>

namespace nopscope::wire {

enum class Kind : std::uint8_t { call = 0, entry = 1, ret = 2, extended = 3 };

enum class Extended : std::uint8_t {
    sync = 0,          // argument: the 25 bits of the clock above the low 32
    tracer_begin = 1,  // from here to tracer_end the core worked for the tracer: the pump ran
    tracer_end = 2,
    context = 3,     // argument: number of the context that the core runs from here on
    marker = 4,      // argument: the firmware's own
};

inline constexpr unsigned kind_shift = 32;
inline constexpr unsigned payload_shift = 35;
inline constexpr unsigned payload_bits = 29;
inline constexpr unsigned entry_index_bits = 28;
inline constexpr std::uint32_t entry_index_mask = (1u << entry_index_bits) - 1;
inline constexpr std::uint32_t argument_mask = (1u << 25) - 1;  // of an extended record
inline constexpr unsigned sync_clock_bits = 32 + 25;  // wraps after 4.5 years at 1 GHz

struct Record {
    std::uint64_t word = 0;

    constexpr std::uint32_t clock_low() const { return static_cast<std::uint32_t>(word); }
    constexpr Kind kind() const { return static_cast<Kind>((word >> kind_shift) & 3); }
    constexpr std::uint32_t payload() const {
        return static_cast<std::uint32_t>(word >> payload_shift);
    }
    constexpr std::uint32_t site_low() const { return payload() << 3; }
    constexpr bool unwound() const { return (payload() & 1) != 0; }
    constexpr std::uint32_t entry_index() const { return payload() >> 1; }
    constexpr Extended extended() const { return static_cast<Extended>(payload() & 15); }
    constexpr std::uint32_t argument() const { return payload() >> 4; }
    constexpr bool is(Extended what) const {
        return kind() == Kind::extended && extended() == what;
    }
};

constexpr Record make_record(Kind kind, std::uint32_t payload, std::uint64_t clock) {
    return {(static_cast<std::uint64_t>(payload) << payload_shift) |
            (static_cast<std::uint64_t>(kind) << kind_shift) | static_cast<std::uint32_t>(clock)};
}
constexpr Record make_sync(std::uint64_t clock) {
    const auto high = static_cast<std::uint32_t>(clock >> 32) & argument_mask;
    return make_record(Kind::extended, high << 4, clock);
}

// A record and all of its clock, whose low half is the record's.
struct StampedRecord {
    Record record;
    std::uint64_t clock = 0;  // ticks
};

}  // namespace nopscope::wire
