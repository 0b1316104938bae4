// SPDX-License-Identifier: Apache-2.0
// Trap entry in machine mode. There are two kinds, and mtvec (vectored) tells them apart.
//
// An interrupt saves all registers, integer and floating-point, on the interrupted stack. So
// handlers may nest and may be any C++.
//
// An exception is a fault, and most end the machine. It switches to the hart's emergency stack,
// because sp itself may be wrong. It saves only the integer registers: the HAL uses no others. A
// fault can only nest in the exception reporter, which then never returns; so each fault may use
// the one frame at the top of that stack.
//
// mscratch is the HAL's: the address of the hart's block, frame.h. tp is the tracer's: it is saved
// for reports and never restored, because a task that is switched to may come from another core. gp
// is not used: the linker script defines no __global_pointer$.

#include "hal/riscv64/frame.h"

    .cfi_sections .debug_frame
    .option norelax

#define DWARF_PC 64                     // an "alternate frame return column"
#define DWARF_F0 32

// In: \op, sd or ld; sp at the frame. Saves or restores x5 to x31.
.macro x5_to_x31 op
    .irp    number, 5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    \op     x\number, FRAME_X(\number)(sp)
    .endr
.endm

.macro f0_to_f31 op
    .irp    number, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    \op     f\number, FRAME_F(\number)(sp)
    .endr
.endm

// Call frame information after all are saved.
.macro saved_general
    .irp    number, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    .cfi_rel_offset \number, FRAME_X(\number)
    .endr
    .cfi_rel_offset DWARF_PC, FRAME_PC
.endm

    .global nopscope_emergency_stack_stride  // for the linker script to compare
    .set    nopscope_emergency_stack_stride, 1 << EMERGENCY_STACK_SHIFT

    .section .vectors, "ax"
    .balign 256
    .global nopscope_vectors
nopscope_vectors:
    .option push
    .option norvc
    j       fault                       // exceptions
    .rept   15
    j       interrupt                   // 4 bytes for each cause
    .endr
    .option pop

    .text

// In: the registers at the fault. void nopscope_exception(ExceptionFrame* frame, unsigned vector)
// may change the frame; when it returns, the frame is resumed.
    .balign 4
fault:
    .cfi_startproc
    .cfi_signal_frame
    .cfi_return_column DWARF_PC
    .cfi_undefined DWARF_PC
    csrrw   sp, mscratch, sp
    .cfi_def_cfa sp, FRAME_BYTES
    sd      zero, FRAME_X(0)(sp)
    sd      x1, FRAME_X(1)(sp)
    sd      x3, FRAME_X(3)(sp)
    sd      x4, FRAME_X(4)(sp)
    x5_to_x31 sd
    csrr    t0, mscratch
    sd      t0, FRAME_X(2)(sp)
    csrw    mscratch, sp
    csrr    t0, mepc
    sd      t0, FRAME_PC(sp)
    saved_general
    csrr    t1, mstatus
    sd      t1, FRAME_STATUS(sp)
    csrr    t2, mcause
    sd      t2, FRAME_CAUSE(sp)
    csrr    t3, mtval
    sd      t3, FRAME_VALUE(sp)
    mv      a0, sp
    li      a1, 0
    call    nopscope_exception

    ld      t0, FRAME_PC(sp)
    csrw    mepc, t0
    ld      t1, FRAME_STATUS(sp)
    csrw    mstatus, t1
    ld      x1, FRAME_X(1)(sp)
    ld      x3, FRAME_X(3)(sp)
    x5_to_x31 ld
    ld      sp, FRAME_X(2)(sp)
    .cfi_endproc                        // the frame is gone
    mret

// In: the interrupted registers. void nopscope_interrupt(IrqFrame*) may enable interrupts and
// returns with them masked. Out: all registers as they were, except those that the handler changed
// in the frame, and tp.
    .balign 4
interrupt:
    .cfi_startproc
    .cfi_signal_frame
    .cfi_return_column DWARF_PC
    .cfi_undefined DWARF_PC
    addi    sp, sp, -IRQ_FRAME_BYTES
    .cfi_adjust_cfa_offset IRQ_FRAME_BYTES
    sd      zero, FRAME_X(0)(sp)
    sd      x1, FRAME_X(1)(sp)
    sd      x3, FRAME_X(3)(sp)
    sd      x4, FRAME_X(4)(sp)
    x5_to_x31 sd
    addi    t0, sp, IRQ_FRAME_BYTES
    sd      t0, FRAME_X(2)(sp)
    csrr    t1, mepc
    sd      t1, FRAME_PC(sp)
    saved_general
    csrr    t2, mstatus
    sd      t2, FRAME_STATUS(sp)
    sd      s0, FRAME_RECORD(sp)        // a backtrace continues at the interrupted PC
    sd      t1, FRAME_RECORD + 8(sp)
    mv      s0, t0
    frcsr   t0
    sd      t0, FRAME_FCSR(sp)
    f0_to_f31 fsd
    fscsr   zero                        // handlers round to nearest
    mv      a0, sp
    call    nopscope_interrupt

    ld      t0, FRAME_FCSR(sp)
    fscsr   t0
    f0_to_f31 fld
    ld      t0, FRAME_PC(sp)
    csrw    mepc, t0
    ld      t1, FRAME_STATUS(sp)
    csrw    mstatus, t1
    // An SC ends a reservation of the interrupted code, whose own SC must fail after this: a trap
    // and its return need not do that.
    sc.d    zero, zero, (sp)
    ld      x1, FRAME_X(1)(sp)
    ld      x3, FRAME_X(3)(sp)
    x5_to_x31 ld
    addi    sp, sp, IRQ_FRAME_BYTES
    .cfi_endproc                        // the frame is gone
    mret
