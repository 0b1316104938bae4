// SPDX-License-Identifier: Apache-2.0
// Chooses the architecture. No other file of the HAL names one, but its folder's, the drivers of
// its interrupt controllers (drivers/gic*) and the boards. In nopscope::hal it provides:
//
//     timer_interrupt     the number of the interrupt that timer_arm() raises, on each core its own
//     device_barrier()    waits until all earlier accesses, also to devices, are complete
//     CoreStart           how a board's other cores start: BoardTable::core_start
//     Fault               what expect_fault() returns; .happened: the function did not return
#pragma once

#include "hal/arm64/arch.hpp"
