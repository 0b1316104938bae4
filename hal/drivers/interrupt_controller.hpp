// SPDX-License-Identifier: Apache-2.0
// What an interrupt controller's driver does. Sixteen priorities, 0 the most urgent: what a non-secure
// view of the smallest GIC has. What concerns interrupts below first_shared_interrupt acts on the core
// that calls; the others go to core 0.
#pragma once

#include <concepts>
#include <cstdint>

namespace nopscope::hal {

inline constexpr unsigned first_special_interrupt = 1020;  // 1020..1023 are answers, not interrupts
inline constexpr unsigned first_shared_interrupt = 32;     // below: each core's own

// Priorities as a GIC's registers have them. Where there are 32, those of handlers leave one above
// them; the lowest, 0xf8, would never be taken: it is not below what the priority mask can hold.
inline constexpr std::uint8_t most_urgent = 0;
constexpr std::uint8_t priority_value(unsigned priority) {
    return static_cast<std::uint8_t>(priority == 15 ? 0xf0 : priority << 4 | 8);
}

template <typename C>
concept InterruptController = requires(const C controller, unsigned number, std::uint8_t priority,
                                       std::uint32_t acknowledged) {
    { controller.start() } -> std::same_as<void>;       // what all cores share; the boot core, first
    { controller.start_core() } -> std::same_as<void>;  // this core's own, everything disabled
    { controller.stop_core() } -> std::same_as<void>;   // no interrupt reaches this core any more
    { controller.enable(number, priority) } -> std::same_as<void>;  // interrupts masked
    { controller.disable(number) } -> std::same_as<void>;
    // What finish() takes; its low ten bits are the interrupt, from first_special_interrupt: none. Until
    // finish() only more urgent ones come. Both with interrupts masked.
    { controller.acknowledge() } -> std::same_as<std::uint32_t>;
    { controller.finish(acknowledged) } -> std::same_as<void>;
    { controller.raise_sgi(number, number) } -> std::same_as<void>;  // on which core, which
};

}  // namespace nopscope::hal
