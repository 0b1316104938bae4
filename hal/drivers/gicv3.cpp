// SPDX-License-Identifier: Apache-2.0
#include "hal/arm64/registers.hpp"
#include "hal/drivers/gic.hpp"
#include "hal/drivers/gic_distributor.hpp"

namespace nopscope::hal {

namespace {

constexpr unsigned gicr_waker = 0x14;
constexpr unsigned gicr_sgi_page = 0x1'0000;
constexpr unsigned gicd_irouter = 0x6000;
constexpr std::uint32_t waker_processor_sleep = 1 << 1;
constexpr std::uint32_t waker_children_asleep = 1 << 2;
constexpr std::uint32_t ctlr_group1 = 1 << 1;
constexpr std::uint32_t ctlr_affinity_routing = 1 << 4;
constexpr std::uint32_t ctlr_write_pending = 1u << 31;

}  // namespace

void Gicv3::start() const {
    write32(distributor_ + gicd_ctlr, ctlr_affinity_routing);
    while ((read32(distributor_ + gicd_ctlr) & ctlr_write_pending) != 0) {
    }
    write32(distributor_ + gicd_ctlr, ctlr_affinity_routing | ctlr_group1);
    while ((read32(distributor_ + gicd_ctlr) & ctlr_write_pending) != 0) {
    }

    const std::uint32_t waker = read32(redistributor_ + gicr_waker);
    write32(redistributor_ + gicr_waker, waker & ~waker_processor_sleep);
    while ((read32(redistributor_ + gicr_waker) & waker_children_asleep) != 0) {
    }

    const std::uint64_t own = redistributor_ + gicr_sgi_page;
    write32(own + gicd_icenabler, 0xffff'ffff);
    write32(own + gicd_icpendr, 0xffff'ffff);
    write32(own + gicd_igroupr, 0xffff'ffff);

    write_icc_sre_el1(read_icc_sre_el1() | 1);
    isb();
    write_icc_pmr_el1(0xff);
    // Every priority bit takes part in preemption; the hardware rounds up to what it has.
    write_icc_bpr1_el1(0);
    write_icc_igrpen1_el1(1);
    isb();
}

std::uint64_t Gicv3::register_page(unsigned interrupt) const {
    return interrupt < gic_first_shared ? redistributor_ + gicr_sgi_page : distributor_;
}

void Gicv3::enable(unsigned interrupt, unsigned priority) const {
    const std::uint64_t page = register_page(interrupt);
    gic_set_priority(page, interrupt, priority);
    if (interrupt >= gic_first_shared) {
        const std::uint64_t group = page + gicd_igroupr + interrupt / 32 * 4;
        write32(group, read32(group) | gic_bit(interrupt));
        // Affinity 0.0.0.0: the boot core. Two words: IROUTER may be written by halves.
        write32(page + gicd_irouter + std::uint64_t{interrupt} * 8, 0);
        write32(page + gicd_irouter + std::uint64_t{interrupt} * 8 + 4, 0);
    }
    gic_set_bit(page + gicd_isenabler, interrupt);
}

void Gicv3::disable(unsigned interrupt) const {
    gic_set_bit(register_page(interrupt) + gicd_icenabler, interrupt);
    dsb_sy();
}

std::uint32_t Gicv3::acknowledge() const {
    const auto acknowledged = static_cast<std::uint32_t>(read_icc_iar1_el1());
    dsb_sy();
    return acknowledged;
}

void Gicv3::finish(std::uint32_t acknowledged) const {
    dsb_sy();  // what the handler wrote to its device reaches it first
    write_icc_eoir1_el1(acknowledged);
    isb();
}

void Gicv3::raise_sgi(unsigned sgi) const {
    constexpr std::uint64_t target_core_0 = 1;
    dsb_sy();
    write_icc_sgi1r_el1(std::uint64_t{sgi} << 24 | target_core_0);
    isb();
}

}  // namespace nopscope::hal
