// SPDX-License-Identifier: Apache-2.0
// Calls that need instructions C++ has no words for. Prototypes: hal/parts.hpp.

    .text

// In: a0 operation, a1 argument. Out: a0. Free: none. The three instructions ("RISC-V Semihosting",
// 2.1) are uncompressed and lie in one page. If nothing answers, the EBREAK is an exception:
// nopscope_exception then resumes at the next instruction, a0 unchanged.
    .global nopscope_semihosting
    .global nopscope_semihosting_instruction
    .balign 16
    .option push
    .option norvc
nopscope_semihosting:
    slli    zero, zero, 0x1f
nopscope_semihosting_instruction:
    ebreak
    srai    zero, zero, 7
    ret
    .option pop

// In: \op \fop, sd fsd or ld fld. Saves or restores the callee-saved registers below the frame
// record.
.macro callee_saved op, fop
    .irp    number, 1,2,3,4,5,6,7,8,9,10,11
    \op     s\number, 8 * (\number - 1)(sp)
    .endr
    .irp    number, 0,1,2,3,4,5,6,7,8,9,10,11
    \fop    fs\number, 88 + 8 * \number(sp)
    .endr
.endm

// In: a0 function, a1 its argument, a2 where to store sp. Out: a0 = 1 the function returned, 0
// recovered from a fault. Frame: the callee-saved registers.
    .global nopscope_guarded_call
    .global nopscope_guarded_call_recovery
    .balign 8
nopscope_guarded_call:
    addi    sp, sp, -208
    sd      ra, 200(sp)
    sd      s0, 192(sp)
    addi    s0, sp, 208
    callee_saved sd, fsd
    sd      sp, (a2)
    mv      t1, a0
    mv      a0, a1
    jalr    t1
    li      a0, 1
    j       1f
nopscope_guarded_call_recovery:
    li      a0, 0
1:  callee_saved ld, fld
    ld      s0, 192(sp)
    ld      ra, 200(sp)
    addi    sp, sp, 208
    ret
