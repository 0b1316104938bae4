// SPDX-License-Identifier: Apache-2.0
// A loop that calls a traced function through a chain of functions without a patch site, for
// tests/verification/oracle/return_stack.cpp. Each level has its own code: in a recursive function
// all return addresses are equal, and a return predictor that is off by one would still be right.

#include "firmware/function.h"

#define BTI_C   hint #34

    .arch armv8-a

    .text

// void chain_mark(const char* row): tells the plugin that the row begins; null: that it ends.
function chain_mark
    BTI_C
    ret
end_of chain_mark

// void chain_run(const char* row, void (*top)(), uint64_t calls): calls top that often, as this
// row.
function chain_run
    BTI_C
    stp     x29, x30, [sp, #-32]!
    mov     x29, sp
    stp     x19, x20, [sp, #16]
    mov     x19, x1
    mov     x20, x2
    bl      chain_mark
    .globl  chain_head
chain_head:
    blr     x19
    subs    x20, x20, #1
    b.ne    chain_head
    mov     x0, #0
    bl      chain_mark
    ldp     x19, x20, [sp, #16]
    ldp     x29, x30, [sp], #32
    ret
end_of chain_run

.macro level number, below
function chain_\number
    BTI_C
    stp     x29, x30, [sp, #-16]!
    mov     x29, sp
    bl      \below
    ldp     x29, x30, [sp], #16
    ret
end_of chain_\number
.endm

// void chain_N(): calls counts_empty through N functions.
    level   1, counts_empty
    .set    number, 1
    .altmacro
.macro next above, below
    level   \above, chain_\below
.endm
    .rept   23
    next    %(number + 1), %(number)
    .set    number, number + 1
    .endr
