// SPDX-License-Identifier: Apache-2.0
// Chooses the architecture. No other file of the HAL names one, but its folder's, the drivers of
// its interrupt controllers (drivers/gic*, clint_plic*) and the boards. In nopscope::hal it
// provides:
//
//     timer_interrupt     the number of the interrupt that timer_arm() raises, on each core its own
//     device_barrier()    waits until all earlier accesses, also to devices, are complete
//     memory_barrier()    orders all earlier accesses to memory before all later ones
//     fetch_barrier()     this core fetches its next instructions again
//     mask_interrupts(), unmask_interrupts()
//                         on this core; enable_interrupts() and disable_interrupts() also report it
//     CoreStart           how a board's other cores start: BoardTable::core_start
//     Fault               what expect_fault() returns; .happened: the function did not return
//
// NOPSCOPE_HAL_FILE(X) is the file X of its folder: frame.h, drivers.hpp and parts.hpp
// (hal/frame.hpp, hal/drivers.hpp and hal/parts.hpp say what they have), and the sources of
// target.cmake.
#pragma once

// clang-format off
#define NOPSCOPE_HAL_QUOTED(path) #path
#ifdef __riscv
// The argument is a part of a path. NOLINTNEXTLINE(bugprone-macro-parentheses)
#define NOPSCOPE_HAL_FILE(name) NOPSCOPE_HAL_QUOTED(hal/riscv64/name)
#else
// NOLINTNEXTLINE(bugprone-macro-parentheses)
#define NOPSCOPE_HAL_FILE(name) NOPSCOPE_HAL_QUOTED(hal/arm64/name)
#endif
// clang-format on

#include NOPSCOPE_HAL_FILE(arch.hpp)
