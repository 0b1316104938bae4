// SPDX-License-Identifier: Apache-2.0
// Fills memory and registers with garbage, for the hostile stub (stub.S).

// EL3's settings: Non-secure, AArch64. The image may use pointer authentication, fine-grained traps
// and HCRX. SVE, trace and debug registers trap, because our images must not touch them.
fill_el3:
    mov     x0, #(SCR_NS | SCR_FIQ | SCR_RES1 | SCR_HCE | SCR_RW)
    movk    x0, #(SCR_APK_API >> 16), lsl #16
    unless_has S3_0_C0_C7_0, 56, 1f     // ID_AA64MMFR0_EL1.FGT
    orr     x0, x0, #SCR_FGTEN
1:  unless_has S3_0_C0_C7_1, 40, 1f     // ID_AA64MMFR1_EL1.HCX
    orr     x0, x0, #SCR_HXEN
1:  msr     scr_el3, x0
    set     cptr_el3, 1 << 20           // TTA
    set     mdcr_el3, 3 << 9            // TDOSA, TDA
    isb
    ret

fill_el2:
    ldr     x0, =GARBAGE
    write_all x0, tpidr_el2, vttbr_el2, hstr_el2, cntvoff_el2, elr_el2, far_el2, hpfar_el2, afsr0_el2, afsr1_el2, mair_el2, amair_el2, ttbr0_el2, tcr_el2, vtcr_el2, vpidr_el2, vmpidr_el2
    mov     sp, x0
    set     vbar_el2, el2_vectors       // UNKNOWN; these vectors report exceptions
    set     sctlr_el2, 0x30c50830       // MMU and caches off, as all boot protocols require
    msr     cptr_el2, x0
    set     cnthctl_el2, 0x6000         // EL1's timers trap (virtual, too, with FEAT_ECV)
    set     mdcr_el2, 0xf60             // PMU and debug trap, EL1 has no counter
    // HCR_EL2: no second stage, nearly all else traps. With VHE, also EL2's other view (E2H).
    ldr     x1, =0x000000004f7fe000
    unless_has id_aa64mmfr1_el1, 8, 1f
    orr     x1, x1, #(1 << 34)          // E2H
1:  msr     hcr_el2, x1
    unless_has S3_0_C0_C7_0, 56, 1f
    ldr     x1, =0x0000ffffffffffff
    write_all x1, S3_4_C1_C1_4, S3_4_C1_C1_5, S3_4_C1_C1_6, S3_4_C3_C1_4, S3_4_C3_C1_5  // HFGRTR, HFGWTR, HFGITR, HDFGRTR, HDFGWTR
1:  unless_has S3_0_C0_C7_1, 40, 1f
    set     S3_4_C1_C2_2, 0xfff         // HCRX_EL2
1:
#if GIC == 3
    set     S3_4_C12_C11_0, 0x3c00      // ICH_HCR_EL2: TC, TALL0, TALL1, TSEI
#endif
    isb
    ret

fill_el1:
    ldr     x0, =GARBAGE
    write_all x0, tpidr_el0, tpidrro_el0, tpidr_el1, sp_el0, sp_el1, elr_el1, far_el1, afsr0_el1, afsr1_el1, mair_el1, amair_el1, ttbr0_el1, ttbr1_el1, contextidr_el1, par_el1, csselr_el1
    set     spsr_el1, 0x40000000        // if EL1 used AArch64's EL0: nothing more
    set     tcr_el1, 0x0000003400803519 // a plausible value of another system
#if ENTRY_LEVEL == 1
    set     sctlr_el1, 0x30d00800       // boot protocols require the MMU off
#else
    set     sctlr_el1, 0x34d5d91d       // the MMU on, alignment checked, writes never executable
#endif
    msr     cpacr_el1, xzr              // FP traps
    set     mdscr_el1, 0xa001           // MDE, KDE, SS
    set     cntkctl_el1, 0x3ff
    mrs     x3, cptr_el3
    msr     cptr_el3, xzr
    set     fpcr, 0x07c09f00            // another rounding, default NaN, flush to zero, traps
    msr     fpsr, x0
    dup     v0.2d, x0
.irp n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    mov     v\n\().16b, v0.16b
.endr
    msr     cptr_el3, x3
    ret

// All timers run, have expired and are not masked. The cycle counter overflows at once.
fill_timers_and_pmu:
    mov     x1, #1
    write_all xzr, cntv_cval_el0, cntp_cval_el0, cnthp_cval_el2
    write_all x1, cntv_ctl_el0, cntp_ctl_el0, cnthp_ctl_el2
    mrs     x9, id_aa64dfr0_el1
    ubfx    x9, x9, #8, #4
    cbz     x9, 1f
    mov     x0, #0xffffffffffffffff
    mov     w2, #0xffffffff
    write_all x0, pmccntr_el0
    set     pmcr_el0, 0x89              // E, D (one tick in 64), LP; not LC
    set     pmccfiltr_el0, 0x80000001
    write_all x2, pmcntenset_el0, pmintenset_el1, pmovsset_el0
    set     pmuserenr_el0, 5
    msr     pmselr_el0, x1
1:  isb
    ret

// Fills [GARBAGE_LOW, GARBAGE_HIGH), 64 bytes at a time.
fill_memory:
    ldr     x0, =GARBAGE
    ldr     x1, =GARBAGE_LOW
    ldr     x2, =GARBAGE_HIGH
1:  stp     x0, x0, [x1], #16
    cmp     x1, x2
    b.lo    1b
    ret

// Sets EL2 up like a hypervisor that does not interfere. The image begins at EL1.
pass_el2:
    set     hcr_el2, 0x30080000000      // RW, APK, API
    isb
    set     cnthctl_el2, 3
    set     cptr_el2, 0x33ff
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
#if SECOND_STAGE
    set     vttbr_el2, second_stage
    set     vtcr_el2, 0x80023559        // 39 bits from level 1, 4 KiB, cacheable, 40-bit output
    set     hcr_el2, 0x30080000001      // and VM
    isb
    tlbi    alle1
    dsb     sy
#endif
    isb
    ret
