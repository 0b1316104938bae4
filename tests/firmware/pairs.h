// SPDX-License-Identifier: Apache-2.0
// clang-format off
// For assembly: stores or loads a row of registers.

    .altmacro
.macro pair op, kind, first, second, base, at
    \op     \kind\first, \kind\second, [\base, #\at]
.endm

// \op: stp or ldp, of registers \kind\first to \kind\last, from [\base, #\at] on, \size bytes each.
.macro pairs op, kind, first, last, base, at, size=8
    pair    \op, \kind, %(\first), %(\first + 1), \base, %(\at)
    .ifne   \last - \first - 1
    pairs   \op, \kind, %(\first + 2), \last, \base, %(\at + 2 * \size), \size
    .endif
.endm
