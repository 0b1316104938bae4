// SPDX-License-Identifier: Apache-2.0
// Boot code, from the machine's reset code to C++, in machine mode. Hart 0 boots. The others come
// here, too, and wait for ever.

#include "hal/riscv64/frame.h"

#define MSTATUS_MIE 8
#define MSTATUS_FS (3 << 13)            // the floating-point registers are on
#define MTVEC_VECTORED 1

    .option norelax
    .section .text.boot, "ax"

// In: a1, the device tree's address. Never returns.
    .global _start
_start:
    csrci   mstatus, MSTATUS_MIE
    csrw    mie, zero
    li      tp, 0                       // the tracer's: no core records yet
    csrr    t0, mhartid
    bnez    t0, park
    mv      s1, a1

    la      t0, __emergency_stack_high - HART_BYTES
    csrw    mscratch, t0
    sd      zero, HART_CORE(t0)
    la      t0, nopscope_vectors
    addi    t0, t0, MTVEC_VECTORED
    csrw    mtvec, t0
    la      sp, __stack_high
    li      t0, MSTATUS_FS
    csrs    mstatus, t0
    fscsr   zero

    la      t0, __bss_start
    la      t1, __bss_end
1:  bgeu    t0, t1, 2f
    .irp    at, 0, 8, 16, 24, 32, 40, 48, 56
    sd      zero, \at(t0)
    .endr
    addi    t0, t0, 64
    j       1b
2:
    // A backtrace ends here: no return address, no caller's record.
    addi    s0, sp, 0
    addi    sp, sp, -16
    sd      zero, 0(sp)
    sd      zero, 8(sp)
    // void nopscope_boot_early(device_tree); [[noreturn]] void nopscope_boot_late()
    mv      a0, s1
    call    nopscope_boot_early
    call    nopscope_boot_late
park:
    wfi
    j       park
