// SPDX-License-Identifier: Apache-2.0
// The registers by interrupt. GICv2's distributor, GICv3's distributor and the SGI page of its
// redistributor have them at the same offsets (IHI 0048, 4.3; IHI 0069, 12.9).
#pragma once

#include <cstdint>
#include <initializer_list>

#include "hal/drivers/mmio.hpp"

namespace nopscope::hal {

inline constexpr unsigned gicd_ctlr = 0x000;
inline constexpr unsigned gicd_typer = 0x004;
inline constexpr unsigned gicd_igroupr = 0x080;
inline constexpr unsigned gicd_isenabler = 0x100;
inline constexpr unsigned gicd_icenabler = 0x180;
inline constexpr unsigned gicd_icpendr = 0x280;
inline constexpr unsigned gicd_icactiver = 0x380;
inline constexpr unsigned gicd_ipriorityr = 0x400;
inline constexpr unsigned gicd_itargetsr = 0x800;  // GICv2 only
inline constexpr unsigned gicd_sgir = 0xf00;       // GICv2 only
inline constexpr unsigned gicd_cpendsgir = 0xf10;  // GICv2 only

inline std::uint32_t gic_bit(unsigned interrupt) { return std::uint32_t{1} << interrupt % 32; }

inline void gic_set_bit(std::uint64_t registers, unsigned interrupt) {
    write32(registers + interrupt / 32 * 4, gic_bit(interrupt));
}
// False: it still reads as disabled, like an interrupt that belongs to the Secure state.
inline bool gic_enable(std::uint64_t page, unsigned interrupt) {
    gic_set_bit(page + gicd_isenabler, interrupt);
    return (read32(page + gicd_isenabler + interrupt / 32 * 4) & gic_bit(interrupt)) != 0;
}

// Disables the 32 interrupts of `word`, and makes them neither pending nor active: a reset within a
// handler, or earlier software, may have left them so.
inline void gic_quiet(std::uint64_t page, unsigned word) {
    for (const unsigned registers : {gicd_icenabler, gicd_icpendr, gicd_icactiver}) {
        write32(page + registers + word * 4, 0xffff'ffff);
    }
}

// How many words of shared interrupts there are; they are numbered from 1.
inline std::uint32_t gic_shared_words(std::uint64_t distributor) {
    return read32(distributor + gicd_typer) & 31;
}

inline void gic_set_priority(std::uint64_t page, unsigned interrupt, std::uint8_t priority) {
    write8(page + gicd_ipriorityr + interrupt, priority);
}

}  // namespace nopscope::hal
