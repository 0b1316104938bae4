// SPDX-License-Identifier: Apache-2.0
// The counter `time`, the cycle counter, and the CLINT's timer, which compares with mtime: `time`
// is a copy of it.
#include "hal/board.hpp"
#include "hal/drivers/clint_plic.hpp"
#include "hal/hal.hpp"
#include "hal/riscv64/registers.hpp"

namespace nopscope::hal {

std::uint64_t clock() { return read_time(); }
std::uint64_t clock_hz() { return board.counter_hz; }

std::uint64_t cycles() { return read_cycle(); }

void timer_arm(std::uint64_t at) { clint_compare(board.interrupts.base, this_core(), at); }
void timer_disarm() { timer_arm(~std::uint64_t{0}); }

}  // namespace nopscope::hal
