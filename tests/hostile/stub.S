// SPDX-License-Identifier: Apache-2.0
// The hostile stub: firmware at EL3 that stands in front of an image under QEMU and leaves it
// everything that the architecture calls UNKNOWN, full of garbage. QEMU alone leaves zeros, so it
// hides an image that counts on them.
//
// The boot core sets up the interrupt groups as TF-A does, fills memory that no loader filled and
// every register whose reset value is UNKNOWN, and enters the image in the Non-secure state. Other
// cores wait until the image asks for them: by PSCI (SMC), or by the Raspberry Pi's spin table.
//
// The stub keeps the vectors of EL3, and at first those of EL2. An exception there that nobody
// expects is the image's fault: the stub says which one it was, and ends QEMU with status 99.
//
// hostile.py gives these numbers: CORES; IMAGE_ENTRY; ENTRY_LEVEL (2 or 1); MT (1: the image sees
// the core's number in Aff1, as every core with BTI has it); GIC (3 or 2; 0: one without security),
// GIC_BASE, GIC_SECOND (first redistributor, or CPU interface); GARBAGE_LOW, GARBAGE_HIGH (memory
// to fill); SPIN_TABLE (0: none); ZYNQMP (1: other cores are held in reset).

#define GARBAGE 0xa5a5a5a5a5a5a5a5

#define SCR_NS (1 << 0)
#define SCR_FIQ (1 << 2)            // Group 0 goes to EL3; so the image has the Non-secure view
#define SCR_RES1 (3 << 4)
#define SCR_HCE (1 << 8)
#define SCR_RW (1 << 10)
#define SCR_APK_API (3 << 16)
#define SCR_FGTEN (1 << 27)
#define SCR_HXEN (1 << 38)
#define SPSR_EL2H_MASKED 0x3c9
#define SPSR_EL1H_MASKED 0x3c5

#define PSCI_VERSION 0x84000000
#define PSCI_CPU_OFF 0x84000002
#define PSCI_SYSTEM_OFF 0x84000008
#define PSCI_CPU_ON 0xc4000003
#define PSCI_AFFINITY_INFO 0xc4000004

#define CORE_STATE 0                // 0 on, 1 off, 2 on its way: PSCI's own numbers
#define CORE_ENTRY 8
#define CORE_BYTES 64

// Out: \to = the physical core's number. QEMU's Aff0.
.macro core_number to
    mrs     \to, mpidr_el1
    and     \to, \to, #0xff
.endm

// Out: \to = address of core \core's state. Changes x9.
.macro core_state to, core
    adrp    \to, cores
    add     \to, \to, :lo12:cores
    mov     x9, #CORE_BYTES
    madd    \to, \core, x9, \to
.endm

// CBZ to \absent unless the field of the ID register is there. Changes x9.
.macro unless_has register, low, absent
    mrs     x9, \register
    ubfx    x9, x9, #\low, #4
    cbz     x9, \absent
.endm

.macro write_all value, first, others:vararg
    msr     \first, \value
.ifnb \others
    write_all \value, \others
.endif
.endm

    .section .text, "ax"
    .global _start
_start:
    adrp    x0, el3_vectors
    add     x0, x0, :lo12:el3_vectors
    msr     vbar_el3, x0
    mov     x0, #0x30c50000             // SCTLR_EL3: RES1, MMU off
    movk    x0, #0x0830
    msr     sctlr_el3, x0
    isb
    core_number x20
    adrp    x0, stacks
    add     x0, x0, :lo12:stacks
    add     x1, x20, #1
    add     x0, x0, x1, lsl #12
    mov     sp, x0
    bl      set_up_gic_core
    cbnz    x20, wait_to_be_started

    bl      set_up_gic
    bl      fill_memory
#if ZYNQMP
    bl      release_cores
#endif
    ldr     x19, =IMAGE_ENTRY
    b       enter_image

// Another core: until the image has said where it begins.
wait_to_be_started:
    core_state x21, x20
1:  wfe
#if SPIN_TABLE
    ldr     x0, =SPIN_TABLE
    ldr     x19, [x0, x20, lsl #3]
    cbz     x19, 1b
#else
    ldr     x0, [x21, #CORE_STATE]
    cmp     x0, #2
    b.ne    1b
    dmb     sy
    ldr     x19, [x21, #CORE_ENTRY]
    str     xzr, [x21, #CORE_STATE]
#endif

// In: x19 where, x20 the core. Never returns.
enter_image:
    bl      fill_el3
    bl      fill_el2
    bl      fill_el1
    bl      fill_timers_and_pmu
#if ENTRY_LEVEL == 1
    bl      pass_el2
    mov     x9, #SPSR_EL1H_MASKED
#else
    mov     x9, #SPSR_EL2H_MASKED
#endif
    msr     spsr_el3, x9
    msr     elr_el3, x19
    isb
    bl      fill_vectors
    ldr     x30, =GARBAGE
.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29
    add     x\n, x30, #\n
.endr
    eret

// ---- garbage -----------------------------------------------------------------------------------

// What EL3 firmware decides for the image: Non-secure, AArch64; pointer authentication, fine-grained
// traps and HCRX are the image's; SVE, trace and debug registers trap, for no image of ours may touch
// them.
fill_el3:
    mov     x0, #(SCR_NS | SCR_FIQ | SCR_RES1 | SCR_HCE | SCR_RW)
    movk    x0, #(SCR_APK_API >> 16), lsl #16
    unless_has S3_0_C0_C7_0, 56, 1f     // ID_AA64MMFR0_EL1.FGT
    orr     x0, x0, #SCR_FGTEN
1:  unless_has S3_0_C0_C7_1, 40, 1f     // ID_AA64MMFR1_EL1.HCX
    orr     x0, x0, #SCR_HXEN
1:  msr     scr_el3, x0
    mov     x0, #(1 << 20)              // TTA
    msr     cptr_el3, x0
    mov     x0, #(1 << 10 | 1 << 9)     // TDOSA, TDA
    msr     mdcr_el3, x0
    isb
    ret

fill_el2:
    ldr     x0, =GARBAGE
    write_all x0, tpidr_el2, vttbr_el2, hstr_el2, cntvoff_el2, elr_el2, far_el2, hpfar_el2, afsr0_el2, afsr1_el2, mair_el2, amair_el2, ttbr0_el2, tcr_el2, vtcr_el2, vpidr_el2, vmpidr_el2
    mov     sp, x0
    ldr     x1, =el2_vectors            // UNKNOWN; here an exception can say so
    msr     vbar_el2, x1
    mov     x1, #0x30c50000             // SCTLR_EL2: MMU and caches off, as every boot protocol has it
    movk    x1, #0x0830
    msr     sctlr_el2, x1
    msr     cptr_el2, x0
    mov     x1, #0x6000                 // CNTHCTL_EL2: EL1's timers trap; with FEAT_ECV the virtual one, too
    msr     cnthctl_el2, x1
    ldr     x1, =0xf60                  // MDCR_EL2: PMU and debug trap, no counter is EL1's
    msr     mdcr_el2, x1
    // HCR_EL2: no second stage; nearly all else traps. Where there is VHE, EL2 has its other view, too.
    ldr     x1, =0x000000004f7fe000
    unless_has id_aa64mmfr1_el1, 8, 1f
    orr     x1, x1, #(1 << 34)          // E2H
1:  msr     hcr_el2, x1
    unless_has S3_0_C0_C7_0, 56, 1f
    ldr     x1, =0x0000ffffffffffff
    write_all x1, S3_4_C1_C1_4, S3_4_C1_C1_5, S3_4_C1_C1_6, S3_4_C3_C1_4, S3_4_C3_C1_5  // HFGRTR, HFGWTR, HFGITR, HDFGRTR, HDFGWTR
1:  unless_has S3_0_C0_C7_1, 40, 1f
    ldr     x1, =0xfff
    msr     S3_4_C1_C2_2, x1            // HCRX_EL2
1:
#if GIC == 3
    mov     x1, #0x3c00                 // ICH_HCR_EL2: TC, TALL0, TALL1, TSEI
    msr     S3_4_C12_C11_0, x1
#endif
    isb
    ret

fill_el1:
    ldr     x0, =GARBAGE
    write_all x0, tpidr_el0, tpidrro_el0, tpidr_el1, sp_el0, sp_el1, elr_el1, far_el1, afsr0_el1, afsr1_el1, mair_el1, amair_el1, ttbr0_el1, ttbr1_el1, contextidr_el1, par_el1, csselr_el1
    mov     x1, #0x40000000             // EL1 would use AArch64's EL0: no more than that
    msr     spsr_el1, x1
    ldr     x1, =0x0000003400803519     // TCR_EL1: a plausible one, of somebody else
    msr     tcr_el1, x1
    ldr     x1, =0x34d5d91d             // SCTLR_EL1 with its MMU on, alignment checked, writes never executable
#if ENTRY_LEVEL == 1
    ldr     x1, =0x30d00800             // a boot protocol has the MMU off
#endif
    msr     sctlr_el1, x1
    msr     cpacr_el1, xzr              // FP traps
    mov     x1, #0xa001                 // MDSCR_EL1: MDE, KDE, SS
    msr     mdscr_el1, x1
    ldr     x1, =0x3ff
    msr     cntkctl_el1, x1
    ldr     x1, =0x07c09f00             // FPCR: another rounding, default NaN, flush to zero, traps
    mov     x2, #(3 << 20)
    mrs     x3, cptr_el3
    msr     cptr_el3, xzr
    msr     fpcr, x1
    msr     fpsr, x0
    dup     v0.2d, x0
.irp n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    mov     v\n\().16b, v0.16b
.endr
    msr     cptr_el3, x3
    ret

// VBAR_EL1: UNKNOWN too. Last, for only enter_image comes after it.
fill_vectors:
    ldr     x0, =el1_vectors
    msr     vbar_el1, x0
    ret

// All of them run, have expired and are not masked; the cycle counter overflows at once.
fill_timers_and_pmu:
    mov     x1, #1
    write_all xzr, cntv_cval_el0, cntp_cval_el0, cnthp_cval_el2
    write_all x1, cntv_ctl_el0, cntp_ctl_el0, cnthp_ctl_el2
    mrs     x9, id_aa64dfr0_el1
    ubfx    x9, x9, #8, #4
    cbz     x9, 1f
    mov     x0, #0xffffffffffffffff
    mov     w1, #0x80000001
    mov     w2, #0xffffffff
    write_all x0, pmccntr_el0
    mov     x3, #0x89                   // PMCR: E, D (one tick in 64), LP; not LC
    msr     pmcr_el0, x3
    msr     pmccfiltr_el0, x1
    write_all x2, pmcntenset_el0, pmintenset_el1, pmovsset_el0
    mov     x3, #5
    msr     pmuserenr_el0, x3
    msr     pmselr_el0, x3
1:  isb
    ret

// [GARBAGE_LOW, GARBAGE_HIGH): 64 bytes at a time.
fill_memory:
    ldr     x0, =GARBAGE
    ldr     x1, =GARBAGE_LOW
    ldr     x2, =GARBAGE_HIGH
1:  stp     x0, x0, [x1], #16
    cmp     x1, x2
    b.lo    1b
    ret

// EL2 as a hypervisor that does not interfere leaves it: the image is entered at EL1.
pass_el2:
    mov     x0, #0x80000000             // RW
    movk    x0, #0x300, lsl #32         // APK, API
    msr     hcr_el2, x0
    isb
    mov     x0, #3
    msr     cnthctl_el2, x0
    mov     x0, #0x33ff
    msr     cptr_el2, x0
    write_all xzr, hstr_el2, vttbr_el2, cntvoff_el2
    msr     cnthp_ctl_el2, xzr
    mrs     x0, pmcr_el0
    ubfx    x0, x0, #11, #5
    msr     mdcr_el2, x0
    mrs     x0, midr_el1
    msr     vpidr_el2, x0
#if MT
    mov     x0, #0x81000000             // and the U bit, RES1
    orr     x0, x0, x20, lsl #8
#else
    mrs     x0, mpidr_el1
#endif
    msr     vmpidr_el2, x0
    isb
    ret

// ---- interrupt groups, as TF-A sets them -------------------------------------------------------

#define NONSECURE_SGIS 0xffff00ff       // 8..15 are Secure

#if GIC == 3
#define GICD_CTLR_ARE 0x30              // both states'
#define GICD_CTLR_SECURE 0x35           // and Group 0 and Secure Group 1 on
#define REDISTRIBUTOR_SHIFT 17

// In: x20 the core. Changes x0-x2.
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

#if ZYNQMP
// The APU's reset vectors, and its cores 1 to 3 out of reset: UG1087, APU and CRF_APB.
release_cores:
    ldr     x0, =0xfd5c0040             // RVBARADDR0L; each core has two words
    ldr     x1, =_start
    mov     x2, #CORES
1:  str     w1, [x0], #4
    str     wzr, [x0], #4
    subs    x2, x2, #1
    b.ne    1b
    ldr     x0, =0xfd1a0104             // RST_FPD_APU
    str     wzr, [x0]
    ret
#endif

// ---- exceptions --------------------------------------------------------------------------------

.macro unexpected level
    .balign 0x80
    adr     x2, .
    mov     x3, #\level
    mrs     x4, esr_el\level
    mrs     x5, elr_el\level
    mrs     x6, far_el\level
    b       report
.endm

.macro all_unexpected level
    .rept 16
    unexpected \level
    .endr
.endm

    .balign 2048
el1_vectors:
    all_unexpected 1
    .balign 2048
el2_vectors:
    all_unexpected 2
    .balign 2048
el3_vectors:
    .rept 8
    unexpected 3
    .endr
    .balign 0x80
    b       smc_from_below
    .rept 7
    unexpected 3
    .endr

// Only PSCI is answered. As SMCCC 1.0 allows, x4-x17 are lost: they hold garbage afterwards.
smc_from_below:
    mrs     x9, esr_el3
    lsr     x9, x9, #26
    cmp     x9, #0x17                   // SMC, AArch64
    b.eq    1f
    mov     x2, xzr
    mov     x3, #3
    mrs     x4, esr_el3
    mrs     x5, elr_el3
    mrs     x6, far_el3
    b       report
1:  ldr     x9, =PSCI_CPU_ON
    cmp     x0, x9
    b.eq    cpu_on
    ldr     x9, =PSCI_AFFINITY_INFO
    cmp     x0, x9
    b.eq    affinity_info
    mov     w9, w0
    ldr     w10, =PSCI_CPU_OFF
    cmp     w9, w10
    b.eq    cpu_off
    ldr     w10, =PSCI_SYSTEM_OFF
    cmp     w9, w10
    b.eq    system_off
    ldr     w10, =PSCI_VERSION
    cmp     w9, w10
    mov     x0, #0x10000                // 1.0
    b.eq    answer
not_supported:
    mov     w0, #-1                     // the upper half is not sign-extended: it is UNKNOWN
answer:
    ldr     x17, =GARBAGE
.irp n, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16
    mov     x\n, x17
.endr
    eret

// In: x1 an affinity. Out: x11 the core's state, or to invalid_parameters. Changes x9, x10.
.macro state_of_affinity
#if MT
    lsr     x10, x1, #8
#else
    mov     x10, x1
#endif
    cmp     x10, #CORES
    b.hs    invalid_parameters
#if MT
    tst     x1, #0xff
    b.ne    invalid_parameters
#endif
    core_state x11, x10
.endm

cpu_on:
    state_of_affinity
    ldr     x9, [x11, #CORE_STATE]
    cmp     x9, #1
    mov     w0, #-4                     // ALREADY_ON
    b.ne    answer
    str     x2, [x11, #CORE_ENTRY]
    dmb     sy
    mov     x9, #2
    str     x9, [x11, #CORE_STATE]
    dsb     sy
    sev
    mov     x0, #0
    b       answer

affinity_info:
    state_of_affinity
    ldr     x0, [x11, #CORE_STATE]
    b       answer

invalid_parameters:
    mov     w0, #-2
    b       answer

cpu_off:
    core_number x20
    core_state x11, x20
    mov     x9, #1
    str     x9, [x11, #CORE_STATE]
    dsb     sy
    b       wait_to_be_started

system_off:
    mov     x5, #0
    b       exit

// In: x2 an address in the vector, x3 the level, x4 ESR, x5 ELR, x6 FAR. Says so by semihosting
// (SYS_WRITE0) and ends QEMU.
report:
    adrp    x7, said
    add     x7, x7, :lo12:said
    adrp    x8, kinds
    add     x8, x8, :lo12:kinds
    ubfx    x2, x2, #7, #2
    add     x8, x8, x2, lsl #3
    add     x9, x7, #(said_kind - said)
    mov     x10, #8
1:  ldrb    w11, [x8], #1
    strb    w11, [x9], #1
    subs    x10, x10, #1
    b.ne    1b
    add     w8, w3, #'0'
    strb    w8, [x7, #(said_level - said)]
    mov     x8, x4
    add     x9, x7, #(said_esr - said)
    bl      put_hex
    mov     x8, x5
    add     x9, x7, #(said_elr - said)
    bl      put_hex
    mov     x8, x6
    add     x9, x7, #(said_far - said)
    bl      put_hex
    mov     w0, #4                      // SYS_WRITE0
    mov     x1, x7
    hlt     #0xf000
    mov     x5, #99
// In: x5 the status.
exit:
    adrp    x1, exit_block
    add     x1, x1, :lo12:exit_block
    str     x5, [x1, #8]
    mov     w0, #0x20                   // SYS_EXIT_EXTENDED
    hlt     #0xf000
1:  wfi
    b       1b

// In: x8 a number, x9 where its 16 digits go. Changes x8-x11.
put_hex:
    mov     x10, #16
1:  ror     x8, x8, #60
    and     w11, w8, #15
    cmp     w11, #10
    add     w11, w11, #'0'
    b.lo    2f
    add     w11, w11, #('a' - '0' - 10)
2:  strb    w11, [x9], #1
    subs    x10, x10, #1
    b.ne    1b
    ret

    .ltorg

    .section .data, "aw"
    .balign 64
cores:
    .quad   0, 0, 0, 0, 0, 0, 0, 0      // the boot core is on
    .rept 7
    .quad   1, 0, 0, 0, 0, 0, 0, 0
    .endr
exit_block:
    .quad   0x20026, 0                  // ADP_Stopped_ApplicationExit
kinds:
    .ascii  "a fault an IRQ  an FIQ  SError  "
said:
    .ascii  "hostile stub: nobody expects this exception: "
said_kind:
    .ascii  "a fault , to EL"
said_level:
    .ascii  "0: ESR 0x"
said_esr:
    .ascii  "0000000000000000 ELR 0x"
said_elr:
    .ascii  "0000000000000000 FAR 0x"
said_far:
    .asciz  "0000000000000000\n"
    .balign 4096
stacks:
    .skip   8 * 4096
