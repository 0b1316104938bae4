// SPDX-License-Identifier: Apache-2.0
// Arm's two interrupt controllers. One write drops the priority and deactivates (EOImode 0).
#pragma once

#include "hal/drivers/interrupt_controller.hpp"

namespace nopscope::hal {

class Gicv2 {  // Arm IHI 0048
public:
    constexpr Gicv2(std::uint64_t distributor, std::uint64_t cpu_interface)
        : distributor_(distributor), cpu_(cpu_interface) {}
    void start() const;
    void start_core() const;
    void stop_core() const;
    bool enable(unsigned interrupt, std::uint8_t priority) const;
    void disable(unsigned interrupt) const;
    std::uint32_t acknowledge() const;
    void finish(std::uint32_t acknowledged) const;
    void raise_interrupt(unsigned core, unsigned sgi) const;

private:
    std::uint64_t distributor_;
    std::uint64_t cpu_;
};
static_assert(InterruptController<Gicv2>);

class Gicv3 {  // Arm IHI 0069, system-register interface, affinity routing
public:
    constexpr Gicv3(std::uint64_t distributor, std::uint64_t redistributors)
        : distributor_(distributor), redistributors_(redistributors) {}
    void start() const;
    void start_core() const;
    void stop_core() const;
    bool enable(unsigned interrupt, std::uint8_t priority) const;
    void disable(unsigned interrupt) const;
    std::uint32_t acknowledge() const;
    void finish(std::uint32_t acknowledged) const;
    void raise_interrupt(unsigned core, unsigned sgi) const;

private:
    std::uint64_t register_page(unsigned interrupt) const;
    std::uint64_t distributor_;
    std::uint64_t redistributors_;  // the first frame; the others follow
};
static_assert(InterruptController<Gicv3>);

}  // namespace nopscope::hal
