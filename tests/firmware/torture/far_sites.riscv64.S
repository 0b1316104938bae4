// SPDX-License-Identifier: Apache-2.0
// Sites as the patcher writes them for an ops with a direct entry of one's own: no stub leads to
// that, so the site's JALR goes to nopscope_far.

    .equ    far_stub, 2                 // its number (tracer/arch/riscv64/stubs.S)

    .option norelax
// \name: a site whose slot holds \ops. Continues in torture_no_landing.
.macro far_site name, ops
    .section .text.\name, "ax", %progbits
    .balign 8
    .quad   \ops
    .globl  \name
    .type   \name, %function
    .option push
    .option norvc
\name:
    auipc   t0, %pcrel_hi(nopscope_stubs + 4 * far_stub)
    jalr    t0, %pcrel_lo(\name)(t0)
    .option pop
    j       torture_no_landing
    .size   \name, . - \name
.endm

far_site torture_far, torture_far_ops
far_site torture_far_bare, torture_bare_ops

// A direct entry that counts its calls. In: ra the return address, t0 the body.
    .section .text.torture_direct, "ax", %progbits
    .globl  torture_direct
    .type   torture_direct, %function
torture_direct:
    la      t1, torture_direct_calls
    ld      t3, (t1)
    addi    t3, t3, 1
    sd      t3, (t1)
    jr      t0
    .size   torture_direct, . - torture_direct
