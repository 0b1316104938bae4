// SPDX-License-Identifier: Apache-2.0
// Calls an instrumented function with a known value in every register. Checks all registers in the
// function and after it. No compiler keeps all registers live at once, so this is assembly.
//
// struct RegisterFile (registers.hpp): x0-x8, x18-x30 and sp as u64, then v0-v7 (128 bits), then
// d8-d15.

    .equ    x0_at, 0
    .equ    x18_at, 72
    .equ    sp_at, 176
    .equ    v0_at, 192
    .equ    d8_at, 320
    .equ    torture_max_phase, 64     // registers.hpp has it, too

// Stores the register file to \to. Changes x16 and x17.
.macro capture to
    adrp    x16, \to
    add     x16, x16, :lo12:\to
    stp     x0, x1, [x16]
    stp     x2, x3, [x16, #16]
    stp     x4, x5, [x16, #32]
    stp     x6, x7, [x16, #48]
    stp     x8, x18, [x16, #64]
    stp     x19, x20, [x16, #80]
    stp     x21, x22, [x16, #96]
    stp     x23, x24, [x16, #112]
    stp     x25, x26, [x16, #128]
    stp     x27, x28, [x16, #144]
    stp     x29, x30, [x16, #160]
    mov     x17, sp
    str     x17, [x16, #sp_at]
    stp     q0, q1, [x16, #v0_at]
    stp     q2, q3, [x16, #v0_at + 32]
    stp     q4, q5, [x16, #v0_at + 64]
    stp     q6, q7, [x16, #v0_at + 96]
    stp     d8, d9, [x16, #d8_at]
    stp     d10, d11, [x16, #d8_at + 16]
    stp     d12, d13, [x16, #d8_at + 32]
    stp     d14, d15, [x16, #d8_at + 48]
.endm

// Loads x0-x8 and v0-v7 from \from. Changes x16.
.macro load_call_registers from
    adrp    x16, \from
    add     x16, x16, :lo12:\from
    ldp     x0, x1, [x16]
    ldp     x2, x3, [x16, #16]
    ldp     x4, x5, [x16, #32]
    ldp     x6, x7, [x16, #48]
    ldr     x8, [x16, #64]
    ldp     q0, q1, [x16, #v0_at]
    ldp     q2, q3, [x16, #v0_at + 32]
    ldp     q4, q5, [x16, #v0_at + 64]
    ldp     q6, q7, [x16, #v0_at + 96]
.endm

// In: \op, stp or ldp. Saves or restores the callee-saved registers above the frame record.
.macro callee_saved op
    \op     x19, x20, [sp, #16]
    \op     x21, x22, [sp, #32]
    \op     x23, x24, [sp, #48]
    \op     x25, x26, [sp, #64]
    \op     x27, x28, [sp, #80]
    \op     d8, d9, [sp, #96]
    \op     d10, d11, [sp, #112]
    \op     d12, d13, [sp, #128]
    \op     d14, d15, [sp, #144]
.endm

// A function with a patch site like the compiler's.
.macro traced name
    .section .text.\name, "ax", %progbits
    .balign 8
.Lsite_\name:
    nop
    nop
    .globl  \name
    .type   \name, %function
\name:
    .section __patchable_function_entries, "awo", %progbits, .text.\name
    .balign 8
    .quad   .Lsite_\name
    .previous
.endm
.macro site
    nop
    nop
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
    ldp     x18, x19, [x16, #x18_at]
    ldp     x20, x21, [x16, #x18_at + 16]
    ldp     x22, x23, [x16, #x18_at + 32]
    ldp     x24, x25, [x16, #x18_at + 48]
    ldp     x26, x27, [x16, #x18_at + 64]
    ldp     x28, x29, [x16, #x18_at + 80]
    ldp     d8, d9, [x16, #d8_at]
    ldp     d10, d11, [x16, #d8_at + 16]
    ldp     d12, d13, [x16, #d8_at + 32]
    ldp     d14, d15, [x16, #d8_at + 48]
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
    bti     c
    site
    paciasp
    capture torture_arrived
    load_call_registers torture_results
    autiasp
    ret
    .size   torture_landing, . - torture_landing

traced torture_tail             // a tail call, by B, to the layout without a landing pad
    bti     c
    site
    b       torture_no_landing
    .size   torture_tail, . - torture_tail

traced torture_no_landing
    site
    capture torture_arrived
    load_call_registers torture_results
    ret
    .size   torture_no_landing, . - torture_no_landing

traced torture_nested           // passes on the result of a call below, at another SP
    bti     c
    site
    paciasp
    stp     x29, x30, [sp, #-16]!
    bl      torture_no_landing
    ldp     x29, x30, [sp], #16
    autiasp
    ret
    .size   torture_nested, . - torture_nested

traced torture_leaping          // a call below does not return: it jumps back here
    bti     c
    site
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

traced torture_leaper
    site
    sub     sp, sp, #64
    stp     x29, x30, [sp]
    bl      torture_no_landing
    adrp    x16, torture_leap_sp
    ldr     x17, [x16, :lo12:torture_leap_sp]
    mov     sp, x17
    adr     x30, .Lleapt
    ret
    .size   torture_leaper, . - torture_leaper

    .bss
    .balign 8
torture_saved:
    .skip   8
torture_leap_sp:
    .skip   8
    .globl  torture_delay, torture_phase
torture_delay:
    .skip   8
torture_phase:
    .skip   8
torture_jitter:
    .skip   8
    .balign 16
    .irp    name, arguments, results, before_call, arrived, returned
    .globl  torture_\name
torture_\name:
    .skip   384
    .endr
