// SPDX-License-Identifier: Apache-2.0
// Calls an instrumented function with a known value in every register. Checks all registers in the
// function and after it. No compiler keeps all registers live at once, so this is assembly.
//
// struct RegisterFile (arch/arm64.hpp): x0-x8, x18-x30 and sp as u64, then v0-v7 (128 bits), then
// d8-d15.

    .equ    x0_at, 0
    .equ    x18_at, 72
    .equ    sp_at, 176
    .equ    v0_at, 192
    .equ    d8_at, 320
    .equ    torture_max_phase, 64     // arch/arm64.hpp has it, too

#include "tests/firmware/pairs.h"
#include "tests/firmware/traced.h"

// Stores the register file to \to. Changes x16 and x17.
.macro capture to
    adrp    x16, \to
    add     x16, x16, :lo12:\to
    pairs   stp, x, 0, 7, x16, 0
    stp     x8, x18, [x16, #64]
    pairs   stp, x, 19, 30, x16, x18_at + 8
    mov     x17, sp
    str     x17, [x16, #sp_at]
    pairs   stp, q, 0, 7, x16, v0_at, 16
    pairs   stp, d, 8, 15, x16, d8_at
.endm

// Loads x0-x8 and v0-v7 from \from. Changes x16.
.macro load_call_registers from
    adrp    x16, \from
    add     x16, x16, :lo12:\from
    pairs   ldp, x, 0, 7, x16, 0
    ldr     x8, [x16, #64]
    pairs   ldp, q, 0, 7, x16, v0_at, 16
.endm

// In: \op, stp or ldp. Saves or restores the callee-saved registers above the frame record.
.macro callee_saved op
    pairs   \op, x, 19, 28, sp, 16
    pairs   \op, d, 8, 15, sp, 96
.endm

    .text
// void torture_call_registers(void (*function)(), uint64_t from_sp);
// Calls `function` with torture_arguments in x0-x8, v0-v7, x18-x29 and d8-d15. Stores the registers
// after the call to torture_returned, and sp at the call to torture_before_call. Subtracts from_sp
// from sp for the call: another frame size, another shadow frame.
    .globl  torture_call_registers
    .type   torture_call_registers, %function
    .balign 8
torture_call_registers:
    paciasp
    stp     x29, x30, [sp, #-176]!
    mov     x29, sp
    callee_saved stp
    str     x18, [sp, #160]
    adrp    x16, torture_saved
    add     x16, x16, :lo12:torture_saved
    mov     x17, sp
    str     x17, [x16]
    mov     x9, x0
    sub     sp, sp, x1

    load_call_registers torture_arguments
    pairs   ldp, x, 18, 29, x16, x18_at
    pairs   ldp, d, 8, 15, x16, d8_at
    adrp    x16, torture_before_call
    add     x16, x16, :lo12:torture_before_call
    mov     x17, sp
    str     x17, [x16, #sp_at]

    // The sweep: the interrupt comes torture_delay ticks from here, and torture_phase NOPs. This
    // waits for a tick, so that the phase within the tick is the same except for the loop's length.
    // That rest depends on the start, which torture_jitter varies.
    adrp    x16, torture_delay
    ldr     x10, [x16, :lo12:torture_delay]
    cbz     x10, 3f
    ldr     x11, [x16, :lo12:torture_phase]
    adr     x12, 2f
    sub     x12, x12, x11, lsl #2
    adrp    x16, torture_jitter
    ldr     x11, [x16, :lo12:torture_jitter]
    add     x11, x11, x11, lsl #2       // takes each value of 0 to 15 in turn
    add     x11, x11, #3
    and     x11, x11, #15
    str     x11, [x16, :lo12:torture_jitter]
    isb
0:  subs    x11, x11, #1
    b.pl    0b
    mrs     x13, cntvct_el0
1:  mrs     x14, cntvct_el0
    cmp     x13, x14
    b.eq    1b
    add     x14, x14, x10
    msr     cntv_cval_el0, x14
    mov     x13, #1
    msr     cntv_ctl_el0, x13
    isb
    ret     x12                         // jumps into the NOPs: RET needs no landing pad
    .rept   torture_max_phase
    nop
    .endr
2:
3:  blr     x9
    capture torture_returned

    adrp    x16, torture_saved
    ldr     x17, [x16, :lo12:torture_saved]
    mov     sp, x17
    callee_saved ldp
    ldr     x18, [sp, #160]
    ldp     x29, x30, [sp], #176
    autiasp
    ret
    .size   torture_call_registers, . - torture_call_registers

// The callees. They store the registers that arrive to torture_arrived, and return torture_results.
traced torture_landing          // the layout with a landing pad
    paciasp
    capture torture_arrived
    load_call_registers torture_results
    autiasp
    ret
    .size   torture_landing, . - torture_landing

traced torture_tail             // a tail call, by B, to the layout without a landing pad
    b       torture_no_landing
    .size   torture_tail, . - torture_tail

traced torture_chain            // jumps to one that jumps on
    b       torture_tail
    .size   torture_chain, . - torture_chain

traced torture_no_landing, 0   // without a landing pad
    capture torture_arrived
    load_call_registers torture_results
    ret
    .size   torture_no_landing, . - torture_no_landing

traced torture_nested           // passes on the result of a call below, at another SP
    paciasp
    stp     x29, x30, [sp, #-16]!
    bl      torture_no_landing
    ldp     x29, x30, [sp], #16
    autiasp
    ret
    .size   torture_nested, . - torture_nested

traced torture_leaping          // a call below does not return: it jumps back here
    paciasp
    stp     x29, x30, [sp, #-16]!
    adrp    x16, torture_leap_sp
    mov     x17, sp
    str     x17, [x16, :lo12:torture_leap_sp]
    bl      torture_leaper
.Lleapt:
    ldp     x29, x30, [sp], #16
    autiasp
    ret
    .size   torture_leaping, . - torture_leaping

traced torture_leaper, 0   // without a landing pad
    sub     sp, sp, #64
    stp     x29, x30, [sp]
    bl      torture_no_landing
    adrp    x16, torture_leap_sp
    ldr     x17, [x16, :lo12:torture_leap_sp]
    mov     sp, x17
    adr     x30, .Lleapt
    ret
    .size   torture_leaper, . - torture_leaper

traced torture_leaf             // for callbacks to call
    ret
    .size   torture_leaf, . - torture_leaf

    .bss
    .balign 8
    .irp    name, saved, leap_sp, delay, phase, jitter
    .globl  torture_\name
torture_\name:
    .skip   8
    .endr
