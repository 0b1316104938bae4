// SPDX-License-Identifier: Apache-2.0
// Assembly: a function with a label at its end, so that code (and tests) can tell what lies in it.
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
// A place in one.
.macro label name
    .globl \name
\name:
.endm
