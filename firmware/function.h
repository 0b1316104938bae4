// SPDX-License-Identifier: Apache-2.0
// clang-format off
// Assembly: global functions with a type and a size.
#pragma once

.macro function name
    .globl \name
    .type \name, %function
    .balign 64
\name:
.endm
.macro end_of name
    .size \name, . - \name
.endm
