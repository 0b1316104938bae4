// SPDX-License-Identifier: Apache-2.0
#include "hal/boot_report.hpp"

#include "hal/arm64/registers.hpp"
#include "hal/board.hpp"
#include "hal/console.hpp"
#include "hal/drivers/gic_view.hpp"
#include "hal/parts.hpp"

namespace nopscope::hal {

void print_this_core() {
    const std::uint64_t ctr = read_ctr_el0();
    const unsigned reservation_granule = field(ctr, 20, 4);  // ERG, log2 of words; 0: unknown
    begin_line("");
    hex(" midr=", read_midr_el1());
    hex(" revidr=", read_revidr_el1());
    hex(" mpidr=", read_mpidr_el1());
    hex(" ctr=", ctr);
    decimal(" erg=", reservation_granule == 0 ? 0 : std::uint64_t{4} << reservation_granule);
    hex(" pfr0=", read_id_aa64pfr0_el1());
    print("\n");
}

void print_interrupt_controller() {
    const InterruptConfig& config = board.interrupts;
    if (config.controller == Controller::bcm2836) {
        begin_line(" gic=none\n");
        return;
    }
    const unsigned version = config.controller == Controller::gic_v2 ? 2 : 3;
    const GicView view = gic_view(config.base, version);
    begin_line("");
    decimal(" gic=", version);
    if (view.security == GicSecurity::secure) print(" view=secure");
    if (view.security == GicSecurity::non_secure) print(" view=non-secure");
    decimal(" priority_bits=", view.priority_bits);
    print("\n");
}

}  // namespace nopscope::hal
