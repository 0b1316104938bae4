// SPDX-License-Identifier: Apache-2.0
// Sites as the patcher writes them if a direct entry is out of a BL's reach: no image here is large
// enough for that.

// \name: a site whose slot holds \ops. Continues in torture_no_landing.
.macro far_site name, ops
    .section .text.\name, "ax", %progbits
    .balign 8
    .quad   \ops
    .globl  \name
    .type   \name, %function
\name:
    bti     c
    mov     x9, x30
    bl      nopscope_far
    b       torture_no_landing
    .size   \name, . - \name
.endm

    .arch   armv8.5-a
far_site torture_far, torture_far_ops
far_site torture_far_bare, torture_bare_ops

// A direct entry that counts its calls. In: x9 the return address, x30 the body.
    .section .text.torture_direct, "ax", %progbits
    .globl  torture_direct
    .type   torture_direct, %function
torture_direct:
    adrp    x10, torture_direct_calls
    add     x10, x10, :lo12:torture_direct_calls
    ldr     x11, [x10]
    add     x11, x11, #1
    str     x11, [x10]
    mov     x10, x30
    mov     x30, x9
    ret     x10
    .size   torture_direct, . - torture_direct
