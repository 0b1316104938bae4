// SPDX-License-Identifier: Apache-2.0
// Sets the GIC up as TF-A does: SGIs 8 to 15 are Secure, others are in Non-secure group 1.

#define NONSECURE_SGIS 0xffff00ff       // 8..15 are Secure

#if GIC == 3
#define GICD_CTLR_ARE 0x30              // both states
#define GICD_CTLR_SECURE 0x35           // and Group 0 and Secure Group 1 enabled
#define REDISTRIBUTOR_SHIFT 17

// In: x20 the core's number. Changes x0-x2.
set_up_gic_core:
    ldr     x0, =GIC_SECOND
    add     x0, x0, x20, lsl #REDISTRIBUTOR_SHIFT
    ldr     w1, [x0, #0x14]             // GICR_WAKER
    and     w1, w1, #~2
    str     w1, [x0, #0x14]
1:  ldr     w1, [x0, #0x14]
    tbnz    w1, #2, 1b
    add     x0, x0, #0x10000            // the SGI page
    ldr     w1, =NONSECURE_SGIS
    str     w1, [x0, #0x80]             // GICR_IGROUPR0
    str     wzr, [x0, #0xd00]           // GICR_IGRPMODR0
    mov     w1, #0xff00
    str     w1, [x0, #0x100]            // Secure SGIs are enabled
    mov     x1, #0xf
    msr     S3_6_C12_C12_5, x1          // ICC_SRE_EL3: system registers, for lower levels too
    isb
    mov     x1, #1
    msr     S3_0_C12_C12_6, x1          // ICC_IGRPEN0_EL1
    mov     x1, #0xff
    msr     S3_0_C4_C6_0, x1            // ICC_PMR_EL1
    isb
    ret

set_up_gic:
    ldr     x0, =GIC_BASE
    mov     w1, #GICD_CTLR_ARE
    str     w1, [x0]
    mov     w1, #GICD_CTLR_SECURE
    str     w1, [x0]
    mov     w1, #-1
    add     x2, x0, #0x84               // GICD_IGROUPR1 and on: Non-secure
    add     x3, x0, #0x100
1:  str     w1, [x2], #4
    cmp     x2, x3
    b.lo    1b
    ret
#elif GIC == 2
set_up_gic_core:
    ldr     x0, =GIC_BASE
    ldr     w1, =NONSECURE_SGIS
    str     w1, [x0, #0x80]             // GICD_IGROUPR0, banked
    mov     w1, #0xff00
    str     w1, [x0, #0x100]            // Secure SGIs are enabled
    ldr     x0, =GIC_SECOND
    mov     w1, #0xff
    str     w1, [x0, #4]                // GICC_PMR
    mov     w1, #0x1e9                  // GICC_CTLR: Group 0 on and as FIQ, no bypass
    str     w1, [x0]
    ret

set_up_gic:
    ldr     x0, =GIC_BASE
    mov     w1, #1                      // Group 0
    str     w1, [x0]
    mov     w1, #-1
    add     x2, x0, #0x84
    add     x3, x0, #0x100
1:  str     w1, [x2], #4
    cmp     x2, x3
    b.lo    1b
    ret
#else
set_up_gic_core:
set_up_gic:
    ret
#endif
