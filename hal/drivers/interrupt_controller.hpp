// SPDX-License-Identifier: Apache-2.0
// What an interrupt controller's driver provides. Fifteen priorities, 0 the most urgent: the
// Non-secure view of a GIC with five priority bits has as many below its mask. Calls for interrupts
// below first_shared_interrupt act on the calling core; the others go to core 0.
#pragma once

#include <concepts>
#include <cstdint>

namespace nopscope::hal {

inline constexpr unsigned first_special_interrupt = 1020;  // 1020..1023 are special answers
inline constexpr unsigned first_shared_interrupt = 32;     // below: each core's own

// Values for a GIC's priority registers and its mask. An interrupt is taken if its priority is less
// than the mask. The GIC stores a Non-secure write of v as v >> 1 | 0x80, without the unimplemented
// bits (IHI 0048, 4.8.1). So with five bits there are sixteen priorities, and the mask is the
// sixteenth. With more bits most_urgent is more urgent than every handler.
inline constexpr unsigned priorities = 15;
inline constexpr std::uint8_t most_urgent = 0;
inline constexpr std::uint8_t priority_mask = 0xf0;
constexpr std::uint8_t priority_value(unsigned priority) {
    return static_cast<std::uint8_t>(priority << 4 | 8);
}
constexpr unsigned kept_of_non_secure(unsigned value, unsigned bits) {
    return (value >> 1 | 0x80) & (0xff00u >> bits) & 0xff;
}
// With five bits the mask admits all priorities, and all differ.
static_assert(kept_of_non_secure(priority_value(priorities - 1), 5) <
              kept_of_non_secure(priority_mask, 5));
static_assert(kept_of_non_secure(priority_value(0), 5) < kept_of_non_secure(priority_value(1), 5));
static_assert(kept_of_non_secure(0xf0, 5) == kept_of_non_secure(0xff, 5), "0xf0 is never taken");

template <typename C>
concept InterruptController = requires(const C controller, unsigned number, std::uint8_t priority,
                                       std::uint32_t acknowledged) {
    { controller.start() } -> std::same_as<void>;       // boot core, first: what all cores share
    { controller.start_core() } -> std::same_as<void>;  // each core: its own part, all disabled
    { controller.stop_core() } -> std::same_as<void>;   // after this no interrupt reaches this core
    // Call with interrupts masked. False: it stays disabled.
    { controller.enable(number, priority) } -> std::same_as<bool>;
    { controller.disable(number) } -> std::same_as<void>;
    // Returns what finish() needs; low ten bits: the interrupt, or none (first_special_interrupt
    // on). Until finish() only more urgent ones come. Call both with interrupts masked.
    { controller.acknowledge() } -> std::same_as<std::uint32_t>;
    { controller.finish(acknowledged) } -> std::same_as<void>;
    { controller.raise_interrupt(number, number) } -> std::same_as<void>;  // core, SGI
};

}  // namespace nopscope::hal
