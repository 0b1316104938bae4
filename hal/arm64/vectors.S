// SPDX-License-Identifier: Apache-2.0
// Exception entry. There are two kinds.
//
// An IRQ from EL1h is the normal one. It saves all registers, general and vector, on the
// interrupted stack. So handlers may nest and may be any C++.
//
// All others are faults, and most end the machine. They switch to the core's emergency stack,
// because SP itself may be wrong: a stack overflow runs into the unmapped page below the stack.
// They save only the general registers: the HAL uses no others. A fault can only nest in the
// exception reporter, which then never returns; so each fault may start at the top of that stack.
//
// Scratch registers are TPIDRRO_EL0 and SP_EL0: there is no EL0. The tracer uses TPIDR_EL1. Call
// frame information says where each register is saved, so that a debugger's backtrace continues
// there. It has no name for ELR_EL1, so the interrupted PC is undefined until it is saved.

#include "hal/arm64/frame.h"
#include "nopscope/defer.h"

    .cfi_sections .debug_frame

#define DWARF_SP 31
#define DWARF_PC 32
#define DWARF_V0 64

// In: \op, stp or ldp; SP at the frame. Each saves or restores some registers.
.macro x4_to_x29 op
    \op     x4, x5, [sp, #FRAME_X(4)]
    \op     x6, x7, [sp, #FRAME_X(6)]
    \op     x8, x9, [sp, #FRAME_X(8)]
    \op     x10, x11, [sp, #FRAME_X(10)]
    \op     x12, x13, [sp, #FRAME_X(12)]
    \op     x14, x15, [sp, #FRAME_X(14)]
    \op     x16, x17, [sp, #FRAME_X(16)]
    \op     x18, x19, [sp, #FRAME_X(18)]
    \op     x20, x21, [sp, #FRAME_X(20)]
    \op     x22, x23, [sp, #FRAME_X(22)]
    \op     x24, x25, [sp, #FRAME_X(24)]
    \op     x26, x27, [sp, #FRAME_X(26)]
    \op     x28, x29, [sp, #FRAME_X(28)]
.endm

.macro q0_to_q31 op
    \op     q0, q1, [sp, #FRAME_Q(0)]
    \op     q2, q3, [sp, #FRAME_Q(2)]
    \op     q4, q5, [sp, #FRAME_Q(4)]
    \op     q6, q7, [sp, #FRAME_Q(6)]
    \op     q8, q9, [sp, #FRAME_Q(8)]
    \op     q10, q11, [sp, #FRAME_Q(10)]
    \op     q12, q13, [sp, #FRAME_Q(12)]
    \op     q14, q15, [sp, #FRAME_Q(14)]
    \op     q16, q17, [sp, #FRAME_Q(16)]
    \op     q18, q19, [sp, #FRAME_Q(18)]
    \op     q20, q21, [sp, #FRAME_Q(20)]
    \op     q22, q23, [sp, #FRAME_Q(22)]
    \op     q24, q25, [sp, #FRAME_Q(24)]
    \op     q26, q27, [sp, #FRAME_Q(26)]
    \op     q28, q29, [sp, #FRAME_Q(28)]
    \op     q30, q31, [sp, #FRAME_Q(30)]
.endm

// Call frame information after x2 to x30 and SP are saved.
.macro saved_general
    .irp    number, 2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30
    .cfi_rel_offset \number, FRAME_X(\number)
    .endr
    .cfi_rel_offset DWARF_SP, FRAME_SP
.endm
.macro saved_vectors
    .irp    number, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    .cfi_rel_offset DWARF_V0 + \number, FRAME_Q(\number)
    .endr
.endm

.macro fault_vector number
    .balign 0x80
    msr     tpidrro_el0, x0
    mov     x0, sp
    msr     sp_el0, x0
    mrs     x0, mpidr_el1               // Cpu::core()
    tbz     x0, #MPIDR_MT, 1f
    lsr     x0, x0, #8
1:  ubfiz   x0, x0, #EMERGENCY_STACK_SHIFT, #EMERGENCY_STACK_CORE_BITS
    mov     sp, x0                      // SP as an adder: no other register is free
    adrp    x0, __emergency_stack_high - FRAME_BYTES
    add     x0, x0, :lo12:(__emergency_stack_high - FRAME_BYTES)
    add     sp, sp, x0
    stp     x2, x3, [sp, #FRAME_X(2)]
    mrs     x2, tpidrro_el0
    stp     x2, x1, [sp, #FRAME_X(0)]
    mov     x1, #\number
    b       fault
.endm

    .global nopscope_emergency_stack_stride  // for the linker script to compare
    .set    nopscope_emergency_stack_stride, 1 << EMERGENCY_STACK_SHIFT

    .section .vectors, "ax"
    .balign 2048
    .global nopscope_vectors
nopscope_vectors:
    fault_vector 0                      // current EL with SP_EL0
    fault_vector 1
    fault_vector 2
    fault_vector 3
    fault_vector 4                      // current EL with SP_EL1: synchronous
    .balign 0x80
    nopscope_defer                      // empty unless the tracer defers interrupts
    b       interrupt                   // IRQ
    fault_vector 6                      // FIQ
    fault_vector 7                      // SError
    fault_vector 8                      // lower EL, AArch64
    fault_vector 9
    fault_vector 10
    fault_vector 11
    fault_vector 12                     // lower EL, AArch32
    fault_vector 13
    fault_vector 14
    fault_vector 15
    .balign 0x80

// EL2's vectors, for an image that was entered there. Only a trap that a setting of EL2 causes
// comes here. The MMU is off at EL2, so this passes the trap to EL1, which reports it as vector 16.
.macro el2_vector
    .balign 0x80
    msr     tpidr_el2, x0
    mrs     x0, esr_el2
    msr     esr_el1, x0
    mrs     x0, far_el2
    msr     far_el1, x0
    mrs     x0, elr_el2
    msr     elr_el1, x0
    mrs     x0, spsr_el2
    msr     spsr_el1, x0
    mov     x0, #SPSR_EL1H_MASKED
    msr     spsr_el2, x0
    adr     x0, trapped_to_el2
    msr     elr_el2, x0
    mrs     x0, tpidr_el2
    eret
.endm

    .balign 2048
    .global nopscope_el2_vectors
nopscope_el2_vectors:
    .rept 16
    el2_vector
    .endr
trapped_to_el2:
    fault_vector 16

    .text

// In: SP at an ExceptionFrame with x0-x3 saved, x1 = vector, SP_EL0 = the interrupted SP. void
// nopscope_exception(ExceptionFrame* frame, unsigned vector) may change the frame; when it returns,
// the frame is resumed.
fault:
    .cfi_startproc
    .cfi_signal_frame
    .cfi_def_cfa sp, FRAME_BYTES
    .cfi_undefined DWARF_SP
    .cfi_undefined DWARF_PC
    .cfi_rel_offset 0, FRAME_X(0)
    .cfi_rel_offset 1, FRAME_X(1)
    .cfi_rel_offset 2, FRAME_X(2)
    .cfi_rel_offset 3, FRAME_X(3)
    x4_to_x29 stp
    mrs     x2, sp_el0
    stp     x30, x2, [sp, #FRAME_X(30)]  // and SP
    saved_general
    mrs     x2, elr_el1
    mrs     x3, spsr_el1
    stp     x2, x3, [sp, #FRAME_ELR]
    .cfi_rel_offset DWARF_PC, FRAME_ELR
    mrs     x2, esr_el1
    mrs     x3, far_el1
    stp     x2, x3, [sp, #FRAME_ESR]
    mov     x0, sp
    bl      nopscope_exception

    ldp     x2, x3, [sp, #FRAME_ELR]
    msr     elr_el1, x2
    msr     spsr_el1, x3
    ldp     x30, x2, [sp, #FRAME_X(30)]
    msr     sp_el0, x2
    ldp     x2, x3, [sp, #FRAME_X(2)]
    x4_to_x29 ldp
    ldp     x0, x1, [sp, #FRAME_X(0)]
    msr     tpidrro_el0, x0
    mrs     x0, sp_el0
    mov     sp, x0
    .cfi_endproc                        // the frame is gone
    mrs     x0, tpidrro_el0
    eret

// In: the interrupted registers. void nopscope_interrupt(IrqFrame*) may enable interrupts and
// returns with them masked. Out: all registers as they were, except those that the handler changed
// in the frame.
interrupt:
    .cfi_startproc
    .cfi_signal_frame
    .cfi_undefined DWARF_PC
    sub     sp, sp, #IRQ_FRAME_BYTES
    .cfi_adjust_cfa_offset IRQ_FRAME_BYTES
    stp     x0, x1, [sp, #FRAME_X(0)]
    .cfi_rel_offset 0, FRAME_X(0)
    .cfi_rel_offset 1, FRAME_X(1)
    stp     x2, x3, [sp, #FRAME_X(2)]
    x4_to_x29 stp
    add     x0, sp, #IRQ_FRAME_BYTES
    stp     x30, x0, [sp, #FRAME_X(30)]
    saved_general
    mrs     x0, elr_el1
    mrs     x1, spsr_el1
    stp     x0, x1, [sp, #FRAME_ELR]
    .cfi_rel_offset DWARF_PC, FRAME_ELR
    stp     x29, x0, [sp, #FRAME_RECORD] // a backtrace continues at the interrupted PC
    add     x29, sp, #FRAME_RECORD
    mrs     x0, fpsr
    mrs     x1, fpcr
    stp     x0, x1, [sp, #FRAME_FPSR]
    q0_to_q31 stp
    saved_vectors
    msr     fpcr, xzr                   // handlers round to nearest
    mov     x0, sp
    bl      nopscope_interrupt

    ldp     x0, x1, [sp, #FRAME_FPSR]
    msr     fpsr, x0
    msr     fpcr, x1
    q0_to_q31 ldp
    ldp     x0, x1, [sp, #FRAME_ELR]
    msr     elr_el1, x0
    msr     spsr_el1, x1
    ldp     x0, x1, [sp, #FRAME_X(0)]
    ldp     x2, x3, [sp, #FRAME_X(2)]
    x4_to_x29 ldp
    ldr     x30, [sp, #FRAME_X(30)]
    add     sp, sp, #IRQ_FRAME_BYTES
    .cfi_endproc                        // the frame is gone
    eret
