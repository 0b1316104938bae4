// SPDX-License-Identifier: Apache-2.0
#include "hal/boot_report.hpp"

#include "hal/board.hpp"
#include "hal/console.hpp"
#include "hal/drivers/clint_plic.hpp"
#include "hal/parts.hpp"
#include "hal/riscv64/registers.hpp"

namespace nopscope::hal {

void print_this_core() {
    begin_line("");
    hex(" mvendorid=", read_mvendorid());
    hex(" marchid=", read_marchid());
    hex(" mimpid=", read_mimpid());
    hex(" misa=", read_misa());
    decimal(" mhartid=", read_mhartid());
    print("\n");
}

void print_interrupt_controller() {
    begin_line(" plic");
    decimal(" priorities=", plic_priorities(board.interrupts.second));
    print("\n");
}

}  // namespace nopscope::hal
