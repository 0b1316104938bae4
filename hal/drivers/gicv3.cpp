// SPDX-License-Identifier: Apache-2.0
#include "hal/arm64/registers.hpp"
#include "hal/drivers/gic.hpp"
#include "hal/drivers/gic_distributor.hpp"
#include "hal/hal.hpp"
#include "tracer/arch/arm64/affinity.hpp"

namespace nopscope::hal {

namespace {

constexpr unsigned gicr_typer = 0x08;
constexpr unsigned gicr_waker = 0x14;
constexpr unsigned gicr_sgi_page = 0x1'0000;
constexpr unsigned gicd_irouter = 0x6000;
constexpr std::uint32_t waker_processor_sleep = 1 << 1;
constexpr std::uint32_t waker_children_asleep = 1 << 2;
constexpr std::uint32_t ctlr_group1 = 1 << 1;
constexpr std::uint32_t ctlr_affinity_routing = 1 << 4;
constexpr std::uint32_t ctlr_write_pending = 1u << 31;
constexpr std::uint32_t typer_virtual_lpis = 1 << 1;  // the frame has two more pages
constexpr std::uint32_t typer_last = 1 << 4;

std::uint64_t own_redistributor[max_cores];  // each core's redistributor frame

// The redistributor frame with this core's affinity.
std::uint64_t find_redistributor(std::uint64_t frame) {
    const std::uint64_t mpidr = read_mpidr_el1();
    const std::uint32_t affinity = field(mpidr, 0, 24) | field(mpidr, 32, 8) << 24;
    for (;;) {
        const std::uint32_t type = read32(frame + gicr_typer);
        if (read32(frame + gicr_typer + 4) == affinity) return frame;
        if ((type & typer_last) != 0) panic("gicv3: no redistributor is this core's");
        frame += (type & typer_virtual_lpis) != 0 ? 0x4'0000 : 0x2'0000;
    }
}

// A target list of sixteen by Aff0. Aff0 is the core; or it is 0, the core's only thread, and Aff1
// is the core. The other affinity fields are zero, like the boot core's.
constexpr std::uint64_t sgi1r(unsigned core, unsigned sgi, bool has_threads) {
    constexpr unsigned intid = 24, aff1 = 16;
    const std::uint64_t target =
        has_threads ? std::uint64_t{core} << aff1 | 1 : std::uint64_t{1} << core;
    return std::uint64_t{sgi} << intid | target;
}
static_assert(sgi1r(3, 7, false) == 0x0700'0008 && sgi1r(3, 7, true) == 0x0703'0001);

// A CPU has one of these registers for 5 priority bits, two for 6, and four for 7.
void forget_running_priority() {
    const unsigned bits = field(read_icc_ctlr_el1(), 8, 3) + 1;
    write_icc_ap1r0_el1(0);
    if (bits > 5) write_icc_ap1r1_el1(0);
    if (bits > 6) write_icc_ap1r2_el1(0), write_icc_ap1r3_el1(0);
}

}  // namespace

void Gicv3::start() const {
    write32(distributor_ + gicd_ctlr, ctlr_affinity_routing);
    while ((read32(distributor_ + gicd_ctlr) & ctlr_write_pending) != 0) {
    }
    // Here all at once: in enable(), two cores could read and write a word at the same time.
    const std::uint32_t words = gic_shared_words(distributor_);
    for (std::uint32_t word = 1; word <= words; ++word) {
        gic_quiet(distributor_, word);
        write32(distributor_ + gicd_igroupr + word * 4, 0xffff'ffff);
    }
    write32(distributor_ + gicd_ctlr, ctlr_affinity_routing | ctlr_group1);
    while ((read32(distributor_ + gicd_ctlr) & ctlr_write_pending) != 0) {
    }
}

void Gicv3::start_core() const {
    const std::uint64_t redistributor = find_redistributor(redistributors_);
    own_redistributor[this_core()] = redistributor;
    const std::uint32_t waker = read32(redistributor + gicr_waker);
    write32(redistributor + gicr_waker, waker & ~waker_processor_sleep);
    while ((read32(redistributor + gicr_waker) & waker_children_asleep) != 0) {
    }

    const std::uint64_t own = redistributor + gicr_sgi_page;
    gic_quiet(own, 0);
    write32(own + gicd_igroupr, 0xffff'ffff);

    write_icc_sre_el1(read_icc_sre_el1() | 1);
    isb();
    if ((read_icc_sre_el1() & 1) == 0) {
        panic("gicv3: firmware above keeps its system registers off (ICC_SRE_EL1.SRE stays 0)");
    }
    forget_running_priority();
    write_icc_pmr_el1(priority_mask);
    // All priority bits count for preemption. The hardware rounds up to what it has.
    write_icc_bpr1_el1(0);
    write_icc_igrpen1_el1(1);
    isb();
}

void Gicv3::stop_core() const {
    write_icc_igrpen1_el1(0);
    isb();
}

std::uint64_t Gicv3::register_page(unsigned interrupt) const {
    return interrupt < first_shared_interrupt ? own_redistributor[this_core()] + gicr_sgi_page
                                              : distributor_;
}

bool Gicv3::enable(unsigned interrupt, std::uint8_t priority) const {
    const std::uint64_t page = register_page(interrupt);
    gic_set_priority(page, interrupt, priority);
    if (interrupt >= first_shared_interrupt) {
        // Affinity 0.0.0.0 is the boot core. IROUTER may be written as two halves.
        write32(page + gicd_irouter + std::uint64_t{interrupt} * 8, 0);
        write32(page + gicd_irouter + std::uint64_t{interrupt} * 8 + 4, 0);
    }
    return gic_enable(page, interrupt);
}

void Gicv3::disable(unsigned interrupt) const {
    gic_set_bit(register_page(interrupt) + gicd_icenabler, interrupt);
    device_barrier();
}

std::uint32_t Gicv3::acknowledge() const {
    const auto acknowledged = static_cast<std::uint32_t>(read_icc_iar1_el1());
    device_barrier();
    return acknowledged;
}

void Gicv3::finish(std::uint32_t acknowledged) const {
    device_barrier();  // completes the handler's writes to its device
    write_icc_eoir1_el1(acknowledged);
    isb();
}

void Gicv3::raise_interrupt(unsigned core, unsigned sgi) const {
    device_barrier();
    write_icc_sgi1r_el1(sgi1r(core, sgi, affinity_shift(read_mpidr_el1()) != 0));
    isb();
}

}  // namespace nopscope::hal
