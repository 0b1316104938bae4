// SPDX-License-Identifier: Apache-2.0
// clang-format off
// The register that is reserved for the tracer, in assembly and in C++ (CMake: NOPSCOPE_TPIDR).
#pragma once

#if defined(NOPSCOPE_TPIDR_EL0)
#define NOPSCOPE_TPIDR tpidr_el0
#elif defined(NOPSCOPE_TPIDR_RO_EL0)
#define NOPSCOPE_TPIDR tpidrro_el0
#elif defined(NOPSCOPE_TPIDR_CONTEXTIDR)
#define NOPSCOPE_TPIDR contextidr_el1  // 32 bits
#else
#define NOPSCOPE_TPIDR tpidr_el1
#endif
