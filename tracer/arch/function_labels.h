// SPDX-License-Identifier: Apache-2.0
// clang-format off
// Assembly: functions with a label at their end. Code and tests know their extent by it.
#pragma once

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
// A global label inside a function.
.macro label name
    .globl \name
\name:
.endm
