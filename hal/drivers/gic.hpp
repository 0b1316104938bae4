// SPDX-License-Identifier: Apache-2.0
// The two interrupt controllers, with the same operations. Sixteen priorities, 0 the most urgent:
// what a non-secure view of the smallest implementation has. Both run with priority drop and
// deactivation in one write (EOImode 0). What concerns interrupts below gic_first_shared acts on
// the core that calls; the others go to core 0.
#pragma once

#include <cstdint>

namespace nopscope::hal {

inline constexpr unsigned gic_first_special = 1020;  // 1020..1023 are answers, not interrupts
inline constexpr unsigned gic_first_shared = 32;     // below: each core's own

// Priorities as the registers have them. Where there are 32, those of handlers leave one above
// them; the lowest, 0xf8, would never be taken: it is not below what the priority mask can hold.
inline constexpr std::uint8_t gic_most_urgent = 0;
constexpr std::uint8_t gic_priority(unsigned priority) {
    return static_cast<std::uint8_t>(priority == 15 ? 0xf0 : priority << 4 | 8);
}

class Gicv2 {  // Arm IHI 0048
public:
    constexpr Gicv2(std::uint64_t distributor, std::uint64_t cpu_interface)
        : distributor_(distributor), cpu_(cpu_interface) {}
    void start() const;       // what all cores share; the boot core, first
    void start_core() const;  // this core's own, everything disabled
    void stop_core() const;   // no interrupt reaches this core any more
    void enable(unsigned interrupt, std::uint8_t priority) const;
    void disable(unsigned interrupt) const;
    // What finish() takes; its low ten bits are the interrupt, from gic_first_special: none.
    std::uint32_t acknowledge() const;
    void finish(std::uint32_t acknowledged) const;
    void raise_sgi(unsigned core, unsigned sgi) const;

private:
    std::uint64_t distributor_;
    std::uint64_t cpu_;
};

class Gicv3 {  // Arm IHI 0069, system-register interface, affinity routing
public:
    constexpr Gicv3(std::uint64_t distributor, std::uint64_t redistributors)
        : distributor_(distributor), redistributors_(redistributors) {}
    void start() const;       // what all cores share; the boot core, first
    void start_core() const;  // this core's own, everything disabled
    void stop_core() const;   // no interrupt reaches this core any more
    void enable(unsigned interrupt, std::uint8_t priority) const;
    void disable(unsigned interrupt) const;
    std::uint32_t acknowledge() const;
    void finish(std::uint32_t acknowledged) const;
    void raise_sgi(unsigned core, unsigned sgi) const;

private:
    std::uint64_t register_page(unsigned interrupt) const;
    std::uint64_t distributor_;
    std::uint64_t redistributors_;  // the first frame; the others follow
};

}  // namespace nopscope::hal
