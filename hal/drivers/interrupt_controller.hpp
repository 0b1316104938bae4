// SPDX-License-Identifier: Apache-2.0
// What an interrupt controller's driver does. Fifteen priorities, 0 the most urgent: what the Non-secure view
// of a GIC with five priority bits has below its priority mask. What concerns interrupts below first_shared_interrupt acts on the core
// that calls; the others go to core 0.
#pragma once

#include <concepts>
#include <cstdint>

namespace nopscope::hal {

inline constexpr unsigned first_special_interrupt = 1020;  // 1020..1023 are answers, not interrupts
inline constexpr unsigned first_shared_interrupt = 32;     // below: each core's own

// Priorities as a GIC's registers have them, and the mask: an interrupt is taken if its priority is less.
// A Non-secure write of v is kept as v >> 1 | 0x80, without the bits that are not implemented (IHI 0048,
// 4.8.1). So with five bits there are sixteen, and the mask is the sixteenth. Where there are 32, those
// of handlers leave one above them.
inline constexpr unsigned priorities = 15;
inline constexpr std::uint8_t most_urgent = 0;
inline constexpr std::uint8_t priority_mask = 0xf0;
constexpr std::uint8_t priority_value(unsigned priority) {
    return static_cast<std::uint8_t>(priority << 4 | 8);
}
constexpr unsigned kept_of_non_secure(unsigned value, unsigned bits) {
    return (value >> 1 | 0x80) & (0xff00u >> bits) & 0xff;
}
// With five bits all are taken, and all are different.
static_assert(kept_of_non_secure(priority_value(priorities - 1), 5) < kept_of_non_secure(priority_mask, 5));
static_assert(kept_of_non_secure(priority_value(0), 5) < kept_of_non_secure(priority_value(1), 5));
static_assert(kept_of_non_secure(0xf0, 5) == kept_of_non_secure(0xff, 5), "0xf0 is never taken");

template <typename C>
concept InterruptController = requires(const C controller, unsigned number, std::uint8_t priority,
                                       std::uint32_t acknowledged) {
    { controller.start() } -> std::same_as<void>;       // what all cores share; the boot core, first
    { controller.start_core() } -> std::same_as<void>;  // this core's own, everything disabled
    { controller.stop_core() } -> std::same_as<void>;   // no interrupt reaches this core any more
    // Interrupts masked. False: it stays disabled.
    { controller.enable(number, priority) } -> std::same_as<bool>;
    { controller.disable(number) } -> std::same_as<void>;
    // What finish() takes; its low ten bits are the interrupt, from first_special_interrupt: none. Until
    // finish() only more urgent ones come. Both with interrupts masked.
    { controller.acknowledge() } -> std::same_as<std::uint32_t>;
    { controller.finish(acknowledged) } -> std::same_as<void>;
    { controller.raise_sgi(number, number) } -> std::same_as<void>;  // on which core, which
};

}  // namespace nopscope::hal
