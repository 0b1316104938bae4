// SPDX-License-Identifier: Apache-2.0
// The two interrupt controllers, with the same five operations. Sixteen priorities, 0 the most
// urgent: what a non-secure view of the smallest implementation has. Both run with priority drop
// and deactivation in one write (EOImode 0).
#pragma once

#include <cstdint>

namespace nopscope::hal {

inline constexpr unsigned gic_first_special = 1020;  // 1020..1023 are answers, not interrupts
inline constexpr unsigned gic_first_shared = 32;     // below: this core's own

class Gicv2 {  // Arm IHI 0048
public:
    constexpr Gicv2(std::uint64_t distributor, std::uint64_t cpu_interface)
        : distributor_(distributor), cpu_(cpu_interface) {}
    void start() const;
    void enable(unsigned interrupt, unsigned priority) const;
    void disable(unsigned interrupt) const;
    // What finish() takes; its low ten bits are the interrupt, from gic_first_special: none.
    std::uint32_t acknowledge() const;
    void finish(std::uint32_t acknowledged) const;
    void raise_sgi(unsigned sgi) const;

private:
    std::uint64_t distributor_;
    std::uint64_t cpu_;
};

class Gicv3 {  // Arm IHI 0069, system-register interface, affinity routing
public:
    constexpr Gicv3(std::uint64_t distributor, std::uint64_t redistributor)
        : distributor_(distributor), redistributor_(redistributor) {}
    void start() const;
    void enable(unsigned interrupt, unsigned priority) const;
    void disable(unsigned interrupt) const;
    std::uint32_t acknowledge() const;
    void finish(std::uint32_t acknowledged) const;
    void raise_sgi(unsigned sgi) const;

private:
    std::uint64_t register_page(unsigned interrupt) const;
    std::uint64_t distributor_;
    std::uint64_t redistributor_;
};

}  // namespace nopscope::hal
