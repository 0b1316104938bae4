// SPDX-License-Identifier: Apache-2.0
// Sets the GIC up as TF-A does: SGIs 8 to 15 are Secure, others are in Non-secure group 1.

#define NONSECURE_SGIS 0xffff00ff       // 8..15 are Secure
#define GICD_CTLR_ARE 0x30              // both states
#define GICD_CTLR_SECURE 0x35           // and Group 0 and Secure Group 1 enabled
#define REDISTRIBUTOR_SHIFT 17

// Stores the word at the offset from x0. Changes x1.
.macro store value, offset
    ldr     w1, =\value
    str     w1, [x0, #\offset]
.endm

// Changes x0-x3.
#if GIC
set_up_gic:
    ldr     x0, =GIC_BASE
#if GIC == 3
    store   GICD_CTLR_ARE, 0
    store   GICD_CTLR_SECURE, 0
#else
    store   1, 0                        // Group 0
#endif
    mov     w1, #-1
    add     x2, x0, #0x84               // GICD_IGROUPR1 and on: Non-secure
    add     x3, x0, #0x100
1:  str     w1, [x2], #4
    cmp     x2, x3
    b.lo    1b
    ret
#endif

#if GIC == 3
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
    store   NONSECURE_SGIS, 0x80        // GICR_IGROUPR0
    str     wzr, [x0, #0xd00]           // GICR_IGRPMODR0
    store   0xff00, 0x100               // Secure SGIs are enabled
    set     S3_6_C12_C12_5, 0xf         // ICC_SRE_EL3: system registers, for lower levels too
    isb
    set     S3_0_C12_C12_6, 1           // ICC_IGRPEN0_EL1
    set     S3_0_C4_C6_0, 0xff          // ICC_PMR_EL1
    isb
    ret
#elif GIC == 2
set_up_gic_core:
    ldr     x0, =GIC_BASE
    store   NONSECURE_SGIS, 0x80        // GICD_IGROUPR0, banked
    store   0xff00, 0x100               // Secure SGIs are enabled
    ldr     x0, =GIC_SECOND
    store   0xff, 4                     // GICC_PMR
    store   0x1e9, 0                    // GICC_CTLR: Group 0 on and as FIQ, no bypass
    ret
#else
set_up_gic_core:
set_up_gic:
    ret
#endif
