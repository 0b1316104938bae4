// SPDX-License-Identifier: Apache-2.0
// Start-up of a firmware that is not built on nopscope's hal: QEMU virt, one core, entered at EL1.
    .section .text.boot, "ax"
    .globl _start
_start:
    adrp    x0, vectors
    add     x0, x0, :lo12:vectors
    msr     vbar_el1, x0
    adrp    x0, stack_end
    add     x0, x0, :lo12:stack_end
    mov     sp, x0
    adrp    x0, bss_start
    adrp    x1, bss_end
0:  stp     xzr, xzr, [x0], #16     // whole pages
    cmp     x0, x1
    b.lo    0b
    bl      mmu_start
    bl      main
    b       power_off

// GCC asks every freestanding program for these two. For the tracer only some versions call memcpy at -O2, and both are
// called at -Os.
    .text
    .globl memcpy
memcpy:
    mov     x3, x0
    cbz     x2, 2f
1:  ldrb    w4, [x1], #1
    strb    w4, [x3], #1
    subs    x2, x2, #1
    b.ne    1b
2:  ret
    .globl memset
memset:
    mov     x3, x0
    cbz     x2, 2f
1:  strb    w1, [x3], #1
    subs    x2, x2, #1
    b.ne    1b
2:  ret

    .section .text.boot, "ax"
    .globl power_off
power_off:
    movz    w0, #0x8400, lsl #16    // PSCI SYSTEM_OFF
    movk    w0, #8
    hvc     #0
1:  wfi
    b       1b

// An exception ends it.
    .balign 2048
vectors:
    .rept   16
    .balign 128
    b       power_off
    .endr
