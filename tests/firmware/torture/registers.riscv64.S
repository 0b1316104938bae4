// SPDX-License-Identifier: Apache-2.0
// Calls an instrumented function with a known value in every register. Checks all registers in the
// function and after it. No compiler keeps all registers live at once, so this is assembly.
//
// arch/riscv64.hpp has struct RegisterFile.

    .equ    t2_at, 64
    .equ    s0_at, 72
    .equ    gp_at, 168
    .equ    tp_at, 176
    .equ    fcsr_at, 184
    .equ    sp_at, 192
    .equ    fa0_at, 200
    .equ    fs0_at, 264
    .equ    ft0_at, 360
    .equ    torture_max_phase, 128    // arch/riscv64.hpp has it, too
    .equ    mtimecmp, 0x2004000       // of hart 0 of QEMU's virt
    .equ    legal_fcsr, 0x7f          // all flags, four of the rounding modes

    .option norelax
#include "tests/firmware/traced.h"

// \op \fop: sd fsd or ld fld, of the registers that pass values, at t0.
.macro call_registers op, fop
    .irp    n, 0, 1, 2, 3, 4, 5, 6, 7
    \op     a\n, 8 * \n (t0)
    \fop    fa\n, fa0_at + 8 * \n (t0)
    .endr
    \op     t2, t2_at(t0)
.endm

// The same of those that a function preserves. \at, \fat: where s0 and fs0 are from \base on.
.macro kept_registers op, fop, base, at, fat
    .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
    \op     s\n, \at + 8 * \n (\base)
    \fop    fs\n, \fat + 8 * \n (\base)
    .endr
.endm

// \fop: fsd or fld, of ft0 to ft11, at t0.
.macro temporaries fop
    .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
    \fop    ft\n, ft0_at + 8 * \n (t0)
    .endr
.endm

// Stores the register file to \to. Changes t0 and t1.
.macro capture to
    la      t0, \to
    temporaries fsd
    call_registers sd, fsd
    kept_registers sd, fsd, t0, s0_at, fs0_at
    sd      gp, gp_at(t0)
    sd      tp, tp_at(t0)
    frcsr   t1
    sd      t1, fcsr_at(t0)
    sd      sp, sp_at(t0)
.endm

// Loads a0-a7, t2 and fa0-fa7 from \from. Changes t0.
.macro load_call_registers from
    la      t0, \from
    call_registers ld, fld
.endm

// \op \fop: as above. Saves or restores what torture_call_registers changes, with its frame record.
.macro callee_saved op, fop
    kept_registers \op, \fop, sp, 0, 96
    \op     gp, 192(sp)
    \op     ra, 216(sp)
    \op     s0, 208(sp)
.endm

    .text
// void torture_call_registers(void (*function)(), uint64_t from_sp);
// Calls `function` with torture_arguments in a0-a7, t2, s0-s11, gp, fcsr and all FP registers.
// Stores tp and the legal part of fcsr there, the registers after the call to torture_returned, and
// sp at the call to torture_before_call. Subtracts from_sp from sp for the call: another frame size,
// another shadow frame.
    .globl  torture_call_registers
    .type   torture_call_registers, %function
    .balign 8
torture_call_registers:
    addi    sp, sp, -224
    callee_saved sd, fsd
    addi    s0, sp, 224
    frcsr   t0
    sd      t0, 200(sp)
    la      t0, torture_saved
    sd      sp, (t0)
    mv      t6, a0
    sub     sp, sp, a1

    la      t0, torture_arguments
    sd      tp, tp_at(t0)
    ld      t1, fcsr_at(t0)
    andi    t1, t1, legal_fcsr
    sd      t1, fcsr_at(t0)
    fscsr   t1
    call_registers ld, fld
    kept_registers ld, fld, t0, s0_at, fs0_at
    temporaries fld
    ld      gp, gp_at(t0)
    la      t0, torture_before_call
    sd      sp, sp_at(t0)

    // The sweep: the interrupt comes torture_delay ticks of `time` from here, less torture_phase
    // NOPs. QEMU counts these ticks from the store to mtimecmp. This waits for a tick, so that none
    // ends between the reading of `time` and the store.
    la      t0, torture_delay
    ld      t0, (t0)
    beqz    t0, 3f
    la      t1, torture_phase
    ld      t1, (t1)
    slli    t1, t1, 2
    la      t3, 2f
    sub     t3, t3, t1
    li      t1, mtimecmp
    rdtime  t4
1:  rdtime  t5
    beq     t4, t5, 1b
    add     t5, t5, t0
    sd      t5, (t1)
    jr      t3                          // jumps into the NOPs
    .option push
    .option norvc
    .rept   torture_max_phase
    nop
    .endr
    .option pop
2:
3:  jalr    t6
    capture torture_returned

    la      t0, torture_saved
    ld      sp, (t0)
    ld      t0, 200(sp)
    fscsr   t0
    callee_saved ld, fld
    addi    sp, sp, 224
    ret
    .size   torture_call_registers, . - torture_call_registers

// The callees. They store the registers that arrive to torture_arrived, and return torture_results.
// No function has a landing pad here: the two first differ on arm64 only.
traced torture_landing
    capture torture_arrived
    load_call_registers torture_results
    ret
    .size   torture_landing, . - torture_landing

traced torture_tail             // a tail call
    j       torture_no_landing
    .size   torture_tail, . - torture_tail

traced torture_chain            // jumps to one that jumps on
    j       torture_tail
    .size   torture_chain, . - torture_chain

traced torture_no_landing
    capture torture_arrived
    load_call_registers torture_results
    ret
    .size   torture_no_landing, . - torture_no_landing

traced torture_nested           // passes on the result of a call below, at another SP
    addi    sp, sp, -16
    sd      ra, 8(sp)
    call    torture_no_landing
    ld      ra, 8(sp)
    addi    sp, sp, 16
    ret
    .size   torture_nested, . - torture_nested

traced torture_leaping          // a call below does not return: it jumps back here
    addi    sp, sp, -16
    sd      ra, 8(sp)
    la      t0, torture_leap_sp
    sd      sp, (t0)
    call    torture_leaper
.Lleapt:
    ld      ra, 8(sp)
    addi    sp, sp, 16
    ret
    .size   torture_leaping, . - torture_leaping

traced torture_leaper
    addi    sp, sp, -64
    sd      ra, 8(sp)
    call    torture_no_landing
    la      t0, torture_leap_sp
    ld      sp, (t0)
    la      ra, .Lleapt
    ret
    .size   torture_leaper, . - torture_leaper

traced torture_leaf             // for callbacks to call
    ret
    .size   torture_leaf, . - torture_leaf

    .bss
    .balign 8
    .irp    name, saved, leap_sp, delay, phase
    .globl  torture_\name
torture_\name:
    .skip   8
    .endr
