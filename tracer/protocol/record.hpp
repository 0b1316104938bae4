// SPDX-License-Identifier: Apache-2.0
// The record: 8 bytes, written to a ring by one store.
//
//     bits  0..31   low 32 bits of the clock, in ticks
//     bits 32..33   kind
//     bit  34       zero; in the ring it tells a written slot from last lap's (core/core.hpp)
//     bits 35..63   payload, 29 bits, by kind:
//       call, entry   bits 3..31 of the address of the traced function's first instruction
//       ret           bit 35: unwound; bits 36..63: the low 28 bits of the record index of the
//                     entry that this return closes
//       extended      bits 35..38: Extended; bits 39..63: its argument
//
// Data records may follow an `extended` record; the recorder claims all together. A data record has
// 57 bits in place of clock and argument: the word's bits 0..31, and above them its bits 39..63.
//
// The function recorder writes a `call`: a point in time, without a return. The graph recorder
// writes an `entry`, which has exactly one `ret` unless the function never returned. A `ret` names
// its entry by index, not by depth. So a decoder that lost records in between still knows which
// open call ended, and nested interrupts cannot confuse it.
#pragma once

#include <cstdint>

namespace nopscope::protocol {

enum class Kind : std::uint8_t { call = 0, entry = 1, ret = 2, extended = 3 };

enum class Extended : std::uint8_t {
    sync = 0,          // argument: bits 32..56 of the clock, which wraps after 4.5 years at 1 GHz
    tracer_begin = 1,  // from here to tracer_end the core worked for the tracer: the pump ran
    tracer_end = 2,
    context = 3,    // argument: number of the context that the core runs from here on
    marker = 4,     // argument: the firmware's number
    interrupt = 5,  // argument: its number. A `ret` that names this record ends the interrupt
    duration = 6,   // of a call. argument: its depth; the clock is its end. data: site, ticks
    arguments = 7,  // bits 0..7: which of x0..x7; 8..15: which are wide. data: site, each value
    result = 8,     // bit 0: wide. data: site, value
    counter = 9,    // bit 0: wide; bits 1..24: its number. data: value
    sample = 10,    // bits 0..5: addresses; 6: the second is from x30; 7: some left out. data: all
    events = 11,    // of the call of the previous ret. bits 0..11: first event; 12..23: second;
                    // 24: there is a second. data: the count of each
    masked = 12,    // ends the longest masked section so far. data: where (as in a sample), ticks
    task = 13,      // of the context of the last `context` record. bits 0..4: TaskFact;
                    // 5..9: number of data records
    data = 15,      // belongs to the record before
};

constexpr bool is_known(Extended what) {
    const auto number = static_cast<unsigned>(what);
    return number <= static_cast<unsigned>(Extended::task) || what == Extended::data;
}

// A reader skips the facts that it does not know, with their data.
enum class TaskFact : std::uint8_t {
    // Right behind the `context` record: the context ran on another core before. data: that core,
    // bits 0..7; above them the index of that core's record that was the next when it left.
    moved = 0,
    // Behind the `context` record, and behind `moved`: how the core left the context before.
    // Bits 10..12 of the argument: Left. No data.
    left = 1,
    // These the firmware tells. data: the number of a context that may run from now on; or the id
    // of an object (bits 0..56) that the context took, gave, or waits for.
    ready = 2,
    takes = 3,
    gives = 4,
    waits = 5,
};

// How a core left a context.
enum class Left : std::uint8_t { unknown = 0, preempted = 1, blocked = 2, gave_way = 3, ended = 4 };

inline constexpr unsigned kind_shift = 32;
inline constexpr unsigned payload_shift = 35;
inline constexpr unsigned payload_bits = 29;
inline constexpr unsigned entry_index_bits = 28;
inline constexpr std::uint32_t entry_index_mask = (1u << entry_index_bits) - 1;
inline constexpr std::uint32_t argument_mask = (1u << 25) - 1;  // an extended record's argument
// Number in a `context` record: several contexts ran one after another, and no record names them.
inline constexpr std::uint32_t several_contexts = argument_mask;
inline constexpr unsigned data_bits = 32 + 25;
inline constexpr std::uint64_t data_mask = (std::uint64_t{1} << data_bits) - 1;

struct Record {
    std::uint64_t word = 0;

    constexpr std::uint32_t clock_low() const { return static_cast<std::uint32_t>(word); }
    constexpr std::uint32_t high() const { return static_cast<std::uint32_t>(word >> kind_shift); }
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
    // For a data record only.
    constexpr std::uint64_t data() const {
        return static_cast<std::uint64_t>(argument()) << 32 | clock_low();
    }
};

constexpr Record make_record(Kind kind, std::uint32_t payload, std::uint64_t clock) {
    return {(static_cast<std::uint64_t>(payload) << payload_shift) |
            (static_cast<std::uint64_t>(kind) << kind_shift) | static_cast<std::uint32_t>(clock)};
}
constexpr Record make_extended(Extended what, std::uint32_t argument, std::uint64_t clock = 0) {
    return make_record(Kind::extended,
                       (argument & argument_mask) << 4 | static_cast<std::uint32_t>(what), clock);
}
constexpr Record make_sync(std::uint64_t clock) {
    return make_extended(Extended::sync, static_cast<std::uint32_t>(clock >> 32), clock);
}
// The low data_bits of `value`.
constexpr Record make_data(std::uint64_t value) {
    return make_extended(Extended::data, static_cast<std::uint32_t>(value >> 32), value);
}

constexpr std::uint32_t task_argument(TaskFact fact, unsigned data_records) {
    return static_cast<std::uint32_t>(fact) | data_records << 5;
}
constexpr TaskFact task_fact(std::uint32_t argument) {
    return static_cast<TaskFact>(argument & 31);
}
constexpr std::uint32_t left_argument(Left how) {
    return task_argument(TaskFact::left, 0) | static_cast<std::uint32_t>(how) << 10;
}
constexpr Left how_left(std::uint32_t argument) { return static_cast<Left>(argument >> 10 & 7); }
constexpr std::uint64_t moved_data(unsigned core, std::uint64_t next_index) {
    return core | next_index << 8;
}
constexpr unsigned moved_from(std::uint64_t data) { return static_cast<unsigned>(data & 0xff); }
constexpr std::uint64_t moved_after(std::uint64_t data) { return data >> 8; }

// True if the first data record holds the function's site, in the form of a call's payload.
constexpr bool has_site(Extended what) {
    return what == Extended::duration || what == Extended::arguments || what == Extended::result;
}

// A value is one data record if sign extension restores it. Otherwise it is wide: a second data
// record holds the bits above.
constexpr std::uint64_t narrow_value(std::uint64_t low) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(low << (64 - data_bits)) >>
                                      (64 - data_bits));
}
constexpr std::uint64_t wide_value(std::uint64_t low, std::uint64_t high) {
    return high << data_bits | low;
}
constexpr bool is_wide(std::uint64_t value) { return narrow_value(value) != value; }

// A sample's addresses, innermost first: signed distances from text_base. Their unit is the
// architecture's shortest instruction.
inline constexpr unsigned max_sample_addresses = 63;
constexpr std::uint32_t sample_argument(unsigned addresses, bool has_link, bool cut) {
    return addresses | (has_link ? 1u << 6 : 0) | (cut ? 1u << 7 : 0);
}
constexpr unsigned sample_addresses(std::uint32_t argument) {
    return argument & max_sample_addresses;
}
constexpr bool sample_has_link(std::uint32_t argument) { return (argument >> 6 & 1) != 0; }
constexpr bool sample_is_cut(std::uint32_t argument) { return (argument >> 7 & 1) != 0; }
constexpr std::uint64_t sampled_address(std::uint64_t offset, unsigned unit_bytes) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(offset) >>
                                      (unit_bytes == 4 ? 2 : 1));
}
constexpr std::int64_t sampled_offset(std::uint64_t data, unsigned unit_bytes) {
    return static_cast<std::int64_t>(narrow_value(data)) * unit_bytes;
}

// A record can name the PMU's events below 0x800 and from 0x4000 to 0x47ff.
inline constexpr unsigned max_events = 2;
constexpr std::uint32_t event_code(std::uint32_t number) {
    return (number & 0x7ff) | (number >> 14 & 1) << 11;
}
constexpr std::uint32_t event_number(std::uint32_t code) {
    return (code & 0x7ff) | (code >> 11 & 1) << 14;
}
constexpr std::uint32_t events_argument(std::uint32_t first) { return event_code(first); }
constexpr std::uint32_t events_argument(std::uint32_t first, std::uint32_t second) {
    return event_code(first) | event_code(second) << 12 | 1u << 24;
}
constexpr unsigned event_count(std::uint32_t argument) { return 1 + (argument >> 24 & 1); }
constexpr std::uint32_t event_of(std::uint32_t argument, unsigned which) {
    return event_number(argument >> 12 * which & 0xfff);
}

// A popcount without libgcc and without FP registers, which the instruction needs.
constexpr unsigned ones(std::uint32_t bits) {
    unsigned count = 0;
    for (; bits != 0; bits &= bits - 1) ++count;
    return count;
}

// How many data records belong to a record of this kind with this argument.
constexpr unsigned data_count(Extended what, std::uint32_t argument) {
    const std::uint32_t registers = argument & 0xff;
    switch (what) {
    case Extended::duration: return 2;
    case Extended::arguments: return 1 + ones(registers) + ones(argument >> 8 & registers);
    case Extended::result: return 2 + (argument & 1);
    case Extended::counter: return 1 + (argument & 1);
    case Extended::sample: return sample_addresses(argument);
    case Extended::masked: return 2;
    case Extended::events: return event_count(argument);
    case Extended::task: return argument >> 5 & 31;
    default: return 0;
    }
}

// A record and its 64-bit clock, whose low half is in the record. A data record has the clock of
// the record that it belongs to.
struct StampedRecord {
    Record record;
    std::uint64_t clock = 0;  // ticks
};

}  // namespace nopscope::protocol
