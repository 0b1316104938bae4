// SPDX-License-Identifier: Apache-2.0
// clang-format off
// The register that is the tracer's, in assembly and in C++ (CMake: NOPSCOPE_TPIDR). And for
// assembly: a function with a label at its end, so that code (and tests) can tell what lies in it.
#pragma once

#if defined(NOPSCOPE_TPIDR_EL0)
#define NOPSCOPE_TPIDR tpidr_el0
#elif defined(NOPSCOPE_TPIDR_RO_EL0)
#define NOPSCOPE_TPIDR tpidrro_el0
#else
#define NOPSCOPE_TPIDR tpidr_el1
#endif

#ifdef __ASSEMBLER__
.macro function name
    .globl \name
    .type \name, %function
    .balign 64
\name:
.endm
.macro end_of name
    .globl \name\()_end
\name\()_end:
    .size \name, . - \name
.endm
// A place in one.
.macro label name
    .globl \name
\name:
.endm
#endif
