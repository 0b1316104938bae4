// SPDX-License-Identifier: Apache-2.0
#include "hal/drivers/gic_view.hpp"

#include <bit>

#include "hal/drivers/gic_distributor.hpp"
#include "hal/drivers/mmio.hpp"

namespace nopscope::hal {

namespace {

constexpr std::uint32_t typer_security_extensions = 1 << 10;
constexpr std::uint32_t ctlr_disable_security = 1 << 6;  // GICv3, DS; 0 in the Non-secure view
constexpr unsigned word_interrupts = 32;

bool has_two_states(std::uint64_t distributor, unsigned version) {
    const bool has_extensions = (read32(distributor + gicd_typer) & typer_security_extensions) != 0;
    if (version == 2) return has_extensions;
    return has_extensions && (read32(distributor + gicd_ctlr) & ctlr_disable_security) == 0;
}

// In the Non-secure state, group registers read as zero and ignore writes.
bool groups_can_be_set(std::uint64_t word) {
    const std::uint32_t before = read32(word);
    if (before != 0) return true;
    write32(word, 1);
    const bool can = read32(word) != 0;
    write32(word, before);
    return can;
}

}  // namespace

GicView gic_view(std::uint64_t distributor, unsigned version) {
    // A GICv3 has the first word in its redistributors.
    const unsigned first = version == 2 ? 0 : word_interrupts;
    GicView view{GicSecurity::one_state, 0};
    if (has_two_states(distributor, version)) {
        const bool is_secure =
            groups_can_be_set(distributor + gicd_igroupr + first / word_interrupts * 4);
        view.security = is_secure ? GicSecurity::secure : GicSecurity::non_secure;
    }
    // The Non-secure state sees no priority of a Secure interrupt, so try the next one.
    for (unsigned interrupt = first; interrupt < first + word_interrupts && view.priority_bits == 0;
         ++interrupt) {
        const std::uint64_t priority = distributor + gicd_ipriorityr + interrupt;
        const std::uint8_t before = read8(priority);
        write8(priority, 0xff);
        view.priority_bits = static_cast<unsigned>(std::countl_one(read8(priority)));
        write8(priority, before);
    }
    if (view.security == GicSecurity::non_secure && view.priority_bits != 0) ++view.priority_bits;
    return view;
}

}  // namespace nopscope::hal
