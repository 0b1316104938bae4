// SPDX-License-Identifier: Apache-2.0
// Chooses the architecture. No other file of the tracer names one.
//
// A header X.hpp of this folder says what each architecture provides, and includes the file of the
// same name from the architecture's folder. The other rooms include only this folder's headers. On
// the host the unit tests have a simulated machine: it has one architecture's files, too, without
// the parts that only that CPU can execute.
#pragma once

// clang-format off
#define NOPSCOPE_ARCH_QUOTED(path) #path
#if defined(__riscv) || defined(NOPSCOPE_SIMULATED_RISCV)
// The argument is a part of a path. NOLINTNEXTLINE(bugprone-macro-parentheses)
#define NOPSCOPE_ARCH_FILE(name) NOPSCOPE_ARCH_QUOTED(tracer/arch/riscv64/name)
#else
// NOLINTNEXTLINE(bugprone-macro-parentheses)
#define NOPSCOPE_ARCH_FILE(name) NOPSCOPE_ARCH_QUOTED(tracer/arch/arm64/name)
#endif
// clang-format on

// The Machine of our own boards. On the host there is none.
#if defined(__aarch64__) && !defined(NOPSCOPE_SIMULATED)
#define NOPSCOPE_BOARD_MACHINE "hal/arm64/machine.hpp"
#elif defined(__riscv)
#define NOPSCOPE_BOARD_MACHINE "hal/riscv64/machine.hpp"
#endif
