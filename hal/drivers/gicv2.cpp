// SPDX-License-Identifier: Apache-2.0
#include "hal/arm64/registers.hpp"
#include "hal/drivers/gic.hpp"
#include "hal/drivers/gic_distributor.hpp"
#include "hal/hal.hpp"

namespace nopscope::hal {

namespace {

constexpr unsigned gicc_ctlr = 0x00;
constexpr unsigned gicc_pmr = 0x04;
constexpr unsigned gicc_bpr = 0x08;
constexpr unsigned gicc_iar = 0x0c;
constexpr unsigned gicc_eoir = 0x10;
constexpr unsigned gicc_apr = 0xd0;  // four

}  // namespace

// Non-secure: the firmware at EL3 has put the interrupts into group 1.
void Gicv2::start() const {
    const std::uint32_t words = gic_shared_words(distributor_);
    for (std::uint32_t word = 1; word <= words; ++word) gic_quiet(distributor_, word);
    write32(distributor_ + gicd_ctlr, 1);
}

// The first word of each register is banked by core. A core's own interrupts target its own
// interface. With a single core they read as zero (IHI 0048, 4.3.12).
void Gicv2::start_core() const {
    const std::uint32_t interface = read32(distributor_ + gicd_itargetsr) & 0xff;
    if (interface != 0 && interface != 1u << this_core())
        panic("gicv2: a core's interface is not the core's number");
    gic_quiet(distributor_, 0);
    for (unsigned sgi = 0; sgi < 16; sgi += 4) write32(distributor_ + gicd_cpendsgir + sgi, ~0u);
    // QEMU keeps the running priority over a reset.
    for (unsigned word = 0; word < 4; ++word) write32(cpu_ + gicc_apr + word * 4, 0);
    write32(cpu_ + gicc_pmr, priority_mask);
    // All priority bits count for preemption. The hardware rounds up to what it has.
    write32(cpu_ + gicc_bpr, 0);
    write32(cpu_ + gicc_ctlr, 1);
}

// Without this, a disabled interface passes on the interrupts of an older controller.
void Gicv2::stop_core() const {
    constexpr std::uint32_t no_bypass = 3 << 5;
    write32(cpu_ + gicc_ctlr, no_bypass);
}

bool Gicv2::enable(unsigned interrupt, std::uint8_t priority) const {
    gic_set_priority(distributor_, interrupt, priority);
    if (interrupt >= first_shared_interrupt) {
        constexpr std::uint8_t core_0 = 1;
        write8(distributor_ + gicd_itargetsr + interrupt, core_0);
    }
    return gic_enable(distributor_, interrupt);
}

void Gicv2::disable(unsigned interrupt) const {
    gic_set_bit(distributor_ + gicd_icenabler, interrupt);
    device_barrier();
}

std::uint32_t Gicv2::acknowledge() const { return read32(cpu_ + gicc_iar); }

void Gicv2::finish(std::uint32_t acknowledged) const {
    device_barrier();  // completes the handler's writes to its device
    write32(cpu_ + gicc_eoir, acknowledged);
}

void Gicv2::raise_interrupt(unsigned core, unsigned sgi) const {
    constexpr unsigned target_list = 16;
    device_barrier();
    write32(distributor_ + gicd_sgir, 1u << core << target_list | sgi);
}

}  // namespace nopscope::hal
