// SPDX-License-Identifier: Apache-2.0
// Targets of the tests' jumps, and the jumps.

    .text

.macro function name
    .balign 8
    .global \name
\name:
.endm
.macro callable name
function \name
    hint    #34                             // bti c
.endm

// Targets that return to x30. The first is no landing pad.
.macro landing name, instruction:vararg
function \name
    \instruction
    ret
.endm
    landing selftest_land_nothing, nop
    landing selftest_land_c, hint #34       // bti c
    landing selftest_land_j, hint #36       // bti j
    landing selftest_land_jc, hint #38      // bti jc
function selftest_land_paciasp
    hint    #25                             // paciasp
    hint    #29                             // autiasp
    ret

// In: x0 the target. The three kinds of indirect branch that BTI distinguishes. Free: x9, x16.
// Frame: a record, because a target may use x30.
callable selftest_jump_blr
    stp     x29, x30, [sp, #-16]!
    blr     x0
    ldp     x29, x30, [sp], #16
    ret

callable selftest_jump_br
    br      x0

callable selftest_jump_br_x16
    mov     x16, x0
    br      x16

// In: x0 bits to flip in the signed return address before it is authenticated. Returns on a CPU
// without PAC. Else faults at the AUTIASP (FEAT_FPAC) or at the RET to a poisoned address.
function selftest_tamper_return
    hint    #25                             // paciasp
    eor     x30, x30, x0
    hint    #29                             // autiasp
    eor     x30, x30, x0
    ret

// A trap to EL2, if the image was entered there.
callable selftest_hvc
    hvc     #0
    ret

// A function to patch: returns 1 until its first word changes.
function selftest_patchable
    mov     w0, #1
    ret

// In: x0 the Holding (interrupt_tests.cpp). Loads all registers from `in`, counts x28 down to 0,
// and stores all to `out`. Uses no stack in between: an interrupt's frame goes below. Enables
// interrupts when all are loaded.
#include "tests/firmware/pairs.h"
#define HOLD_X 0
#define HOLD_Q 256
#define HOLD_NZCV 768
#define HOLD_FPSR 776
#define HOLD_FPCR 784
#define HOLD_BYTES 800

// In: \op, stp or ldp. Saves or restores the callee-saved registers.
.macro callee_saved op
    pairs   \op, x, 19, 30, sp, 0
    pairs   \op, d, 8, 15, sp, 96
.endm

callable selftest_hold
    sub     sp, sp, #192
    callee_saved stp
    mrs     x9, fpcr
    stp     x0, x9, [sp, #160]

    ldr     x9, [x0, #HOLD_NZCV]
    msr     nzcv, x9
    ldr     x9, [x0, #HOLD_FPSR]
    msr     fpsr, x9
    ldr     x9, [x0, #HOLD_FPCR]
    msr     fpcr, x9
    pairs   ldp, q, 0, 31, x0, HOLD_Q, 16
    pairs   ldp, x, 1, 30, x0, HOLD_X + 8
    ldr     x0, [x0, #HOLD_X]
    msr     daifclr, #2                     // a pending interrupt comes here
1:  b       2f                              // each branch ends one of QEMU's translation blocks:
2:  nop                                     // an interrupt may come between any two
    b       3f
3:  sub     x28, x28, #1
    b       4f
4:  cbnz    x28, 1b

    str     x0, [sp, #176]
    ldr     x0, [sp, #160]
    add     x0, x0, #HOLD_BYTES
    pairs   stp, x, 1, 30, x0, HOLD_X + 8
    ldr     x9, [sp, #176]
    str     x9, [x0, #HOLD_X]
    pairs   stp, q, 0, 31, x0, HOLD_Q, 16
    mrs     x9, nzcv
    str     x9, [x0, #HOLD_NZCV]
    mrs     x9, fpsr
    str     x9, [x0, #HOLD_FPSR]
    mrs     x9, fpcr
    str     x9, [x0, #HOLD_FPCR]

    ldr     x9, [sp, #168]
    msr     fpcr, x9
    callee_saved ldp
    add     sp, sp, #192
    ret

// Changes all registers that AAPCS64 lets a function change, and flags and FPCR: a handler's worst
// case. In: x0 a seed. The callee-saved halves d8-d15 stay.
callable selftest_clobber
    .irp n, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18
    sub     x\n, x0, #\n
    .endr
    .irp n, 0,1,2,3,4,5,6,7,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    dup     v\n\().2d, x0
    .endr
    .irp n, 8,9,10,11,12,13,14,15
    mov     v\n\().d[1], x0
    .endr
    mov     x1, #0xf0000000
    msr     nzcv, x1
    msr     fpsr, x1
    mov     x1, #0x00c00000                 // round towards zero
    msr     fpcr, x1
    ret

// Where crash= faults. Frame: none, like a leaf function.
callable selftest_undefined
    udf     #0
    ret
callable selftest_brk
    brk     #42
    ret
// All registers except x29 and SP hold 0x1000 + their number at the BRK.
callable selftest_known_registers
    .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,30
    mov     x\n, #0x1000 + \n
    .endr
    brk     #0
// In: x0 the value of SP for one load. Returns only if the load does not fault.
callable selftest_load_from_sp
    mov     x9, sp
    mov     sp, x0
    ldr     x10, [sp]
    mov     sp, x9
    ret

// Out: w0 = 0; 1 when its first word is selftest_toggle_branch. NOP and B may change while another
// core executes them.
function selftest_toggle
    nop
    mov     w0, #0
    ret
toggled:
    mov     w0, #1
    ret

// In: x0 the address of a 32-bit word. Spins until the word is not zero.
function selftest_spin
    yield                               // with -icount: lets the other cores run
    ldr     w1, [x0]
    cbz     w1, selftest_spin
    ret
    .global selftest_spin_end
selftest_spin_end:

// B toggled, as the first word of selftest_toggle.
    .section .rodata
    .balign 8
    .global selftest_toggle_branch
selftest_toggle_branch:
    .inst   0x14000000 | ((toggled - selftest_toggle) / 4)
