// SPDX-License-Identifier: Apache-2.0
// The format of Core::events, which says what is counted, and of two 32-bit counters in one word.
// The recorders in assembly and C++ (recorders/events.cpp) share both.
#pragma once

#include "tracer/arch/pmu.hpp"
#include "tracer/core/core.hpp"

#include <span>

namespace nopscope {

// Core::events; 0: nothing is counted.
// - Bits 0..15: a number for each choice of events. It is not 0 nor 0xffff: the profile recorder
//   puts it above a cell's 48-bit address, whose own upper bits are one of these.
// - Bits 16..31: bytes of the ring for a return. Bits 32..63: upper half of its `events` record.
struct EventSet {
    std::uint64_t word = 0;

    // `numbers`: one or two.
    static EventSet of(std::span<const std::uint16_t> numbers, std::uint16_t choice) {
        const std::uint32_t argument = numbers.size() == 2
                                           ? protocol::events_argument(numbers[0], numbers[1])
                                           : protocol::events_argument(numbers[0]);
        const protocol::Record head = protocol::make_extended(protocol::Extended::events, argument);
        return {std::uint64_t{head.high()} << 32 | (2 + numbers.size()) * record_bytes << 16 |
                choice};
    }
    bool any() const { return word != 0; }
    std::uint16_t choice() const { return static_cast<std::uint16_t>(word); }
    std::uint64_t return_bytes() const { return any() ? word >> 16 & 0xffff : record_bytes; }
    protocol::Record head() const { return {word >> 32 << protocol::kind_shift}; }
    std::uint32_t argument() const { return head().argument(); }
    unsigned count() const { return protocol::event_count(argument()); }
};

constexpr std::uint32_t counter_of(std::uint64_t both, unsigned which) {
    return static_cast<std::uint32_t>(both >> 32 * which);
}
// Both counters are modulo 2^32.
constexpr std::uint64_t counters_added(std::uint64_t a, std::uint64_t b) {
    return std::uint64_t{counter_of(a, 1) + counter_of(b, 1)} << 32 |
           static_cast<std::uint32_t>(counter_of(a, 0) + counter_of(b, 0));
}
constexpr std::uint64_t counters_between(std::uint64_t from, std::uint64_t to) {
    return std::uint64_t{counter_of(to, 1) - counter_of(from, 1)} << 32 |
           static_cast<std::uint32_t>(counter_of(to, 0) - counter_of(from, 0));
}

// Pauses this core's event counters for the running context. context_switch() lets others count.
inline void pause_events(Core& core) {
    if (core.events != 0) core.paused_counters = arch::pause_counters();
}
inline void resume_events(Core& core) {
    if (core.paused_counters != 0 && core.events != 0) arch::resume_counters(core.paused_counters);
    core.paused_counters = 0;
}

}  // namespace nopscope
