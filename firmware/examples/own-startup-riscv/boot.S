// SPDX-License-Identifier: Apache-2.0
// Start-up of a RISC-V firmware without nopscope's HAL: QEMU virt, one hart, entered in M-mode.
    .option norelax
    .section .text.boot, "ax"
    .globl _start
_start:
    la      t0, stop                // traps
    csrw    mtvec, t0
    la      sp, stack_end
    li      tp, 0                   // the tracer's register: 0 until nopscope_init()
    la      t0, bss_start
    la      t1, bss_end
1:  sd      zero, (t0)
    addi    t0, t0, 8
    bltu    t0, t1, 1b
    call    main
    li      t0, 0x100000            // virt's test device: power off
    li      t1, 0x5555
    sw      t1, (t0)
    .balign 4
stop:
    j       stop

// GCC requires these two of all freestanding programs.
    .text
    .globl memcpy
memcpy:
    mv      a3, a0
1:  beqz    a2, 2f
    lbu     a4, (a1)
    sb      a4, (a3)
    addi    a1, a1, 1
    addi    a3, a3, 1
    addi    a2, a2, -1
    j       1b
2:  ret
    .globl memset
memset:
    mv      a3, a0
1:  beqz    a2, 2f
    sb      a1, (a3)
    addi    a3, a3, 1
    addi    a2, a2, -1
    j       1b
2:  ret
