// SPDX-License-Identifier: Apache-2.0
// Boot code of all cores, from the loader or PSCI to C++. Entered at EL2 or EL1 with the MMU off.
//
// 1. Set up EL2 so that nothing at EL1 traps, drop to EL1, and set EL1's vectors.
// 2. Clean and invalidate the cache lines of the image, which may be dirty. Zero bss.
// 3. nopscope_boot_early (C++, MMU off) makes the page tables.
// 4. Invalidate these lines again, turn MMU and caches on, and call nopscope_boot_late (C++).
//
// Writes with the MMU off bypass the caches: without 2 and 4 an old cache line would hide them.

#include "hal/arm64/frame.h"
#include "hal/arm64/setup.h"

#define EL2_IN_CURRENTEL 0x8
#define EL1_IN_CURRENTEL 0x4

#define SCTLR_EL1_OFF 0x30d00800      // only RES1 bits: Sctlr{}.bits() in registers.hpp
#define CPACR_FPEN (3 << 20)
#define HCR_RW (1 << 31)              // EL1 is AArch64
#define HCR_APK (1 << 40)             // pointer authentication does not trap
#define HCR_API (1 << 41)
#define CNTHCTL_EL1_MAY_USE_TIMERS 3
#define CPTR_RES1_NO_FP_TRAP 0x33ff
#define ICC_SRE_EL2_ON (1 << 0 | 1 << 3)
#define SCTLR_EL2_OFF 0x30c50830      // only RES1 bits

// In: \start, \end addresses. Free: x9-x12. Runs DC operation \op on each line of [start, end).
.macro for_each_line op, start, end
    mrs     x9, ctr_el0
    ubfx    x9, x9, #16, #4             // DminLine: log2 of words
    mov     x10, #4
    lsl     x10, x10, x9
    adrp    x11, \start
    add     x11, x11, :lo12:\start
    adrp    x12, \end
    add     x12, x12, :lo12:\end
1:  dc      \op, x11
    add     x11, x11, x10
    cmp     x11, x12
    b.lo    1b
    dsb     sy
.endm

    .section .text.boot, "ax"
    // The other cores run this code, too. x20 is the core's number, 0 for the boot core.

// In: any state of the loader; x0 may be a device tree's address. Never returns.
    .global _start
_start:
    msr     daifset, #0xf
    mov     x21, x0                     // the device tree, by the Linux boot protocol
    mrs     x9, mpidr_el1
    mov     x10, #0xffffff              // Aff2..Aff0
    tst     x9, x10
    b.ne    park
    mov     x20, xzr
any_core:
    mrs     x19, CurrentEL
    cmp     x19, #EL2_IN_CURRENTEL
    b.eq    from_el2
    cmp     x19, #EL1_IN_CURRENTEL
    b.eq    at_el1
    // EL3: this image cannot set up the secure world. Fall through and park.
park:
    wfe
    b       park

// Most EL2 registers are UNKNOWN here. Write each one that can trap or change what EL1 does.
from_el2:
    mov     x9, #(SCTLR_EL2_OFF & 0xffff)
    movk    x9, #(SCTLR_EL2_OFF >> 16), lsl #16
    msr     sctlr_el2, x9
    adrp    x9, nopscope_el2_vectors
    add     x9, x9, :lo12:nopscope_el2_vectors
    msr     vbar_el2, x9
    isb
    ldr     x9, =(HCR_RW | HCR_APK | HCR_API)
    msr     hcr_el2, x9
    isb
    mov     x9, #CNTHCTL_EL1_MAY_USE_TIMERS
    msr     cnthctl_el2, x9
    msr     cntvoff_el2, xzr
    mov     x9, #CPTR_RES1_NO_FP_TRAP
    msr     cptr_el2, x9
    msr     hstr_el2, xzr
    msr     vttbr_el2, xzr
    mrs     x9, midr_el1
    msr     vpidr_el2, x9
    mrs     x9, mpidr_el1
    msr     vmpidr_el2, x9

    // MDCR_EL2: no traps. HPMN gives EL1 all event counters.
    mrs     x9, id_aa64dfr0_el1
    ubfx    x9, x9, #8, #4              // PMUVer: 0 none, 15 not the architecture's
    mov     x10, xzr
    cbz     x9, 1f
    cmp     x9, #15
    b.eq    1f
    mrs     x10, pmcr_el0
    ubfx    x10, x10, #11, #5           // N
1:  msr     mdcr_el2, x10

    // No fine-grained traps (Armv8.6), and nothing in HCRX_EL2 (Armv8.7).
    mrs     x9, id_aa64mmfr0_el1
    ubfx    x9, x9, #56, #4             // FGT
    cbz     x9, 1f
    msr     S3_4_C1_C1_4, xzr           // HFGRTR_EL2
    msr     S3_4_C1_C1_5, xzr           // HFGWTR_EL2
    msr     S3_4_C1_C1_6, xzr           // HFGITR_EL2
    msr     S3_4_C3_C1_4, xzr           // HDFGRTR_EL2
    msr     S3_4_C3_C1_5, xzr           // HDFGWTR_EL2
1:  mrs     x9, id_aa64mmfr1_el1
    ubfx    x9, x9, #40, #4             // HCX
    cbz     x9, 1f
    msr     S3_4_C1_C2_2, xzr           // HCRX_EL2
1:
    // EL1 uses the GIC's system registers if the CPU has them.
    mrs     x9, id_aa64pfr0_el1
    ubfx    x9, x9, #24, #4             // GIC
    cbz     x9, 1f
    mrs     x9, S3_4_C12_C9_5           // ICC_SRE_EL2
    mov     x10, #ICC_SRE_EL2_ON
    orr     x9, x9, x10
    msr     S3_4_C12_C9_5, x9
    isb
    mrs     x9, S3_4_C12_C9_5           // EL3 may keep SRE at 0: ICH_HCR_EL2 is then UNDEFINED
    tbz     x9, #0, 1f
    msr     S3_4_C12_C11_0, xzr         // ICH_HCR_EL2
1:
    ldr     x9, =SCTLR_EL1_OFF
    msr     sctlr_el1, x9
    mov     x9, #SPSR_EL1H_MASKED
    msr     spsr_el2, x9
    adr     x9, at_el1
    msr     elr_el2, x9
    eret

at_el1:
    ldr     x9, =SCTLR_EL1_OFF
    msr     sctlr_el1, x9
    mov     x9, #CPACR_FPEN
    msr     cpacr_el1, x9
    msr     spsel, #1
    adrp    x9, nopscope_vectors
    add     x9, x9, :lo12:nopscope_vectors
    msr     vbar_el1, x9
    isb
    msr     tpidr_el1, xzr              // the tracer's register: no core until init() or join()
    msr     fpcr, xzr
    mov     x29, xzr
    mov     x30, xzr
    cbnz    x20, secondary_at_el1

    adrp    x9, __stack_high
    add     x9, x9, :lo12:__stack_high
    mov     sp, x9

    for_each_line civac, __image_start, __image_end

    adrp    x9, __bss_start
    add     x9, x9, :lo12:__bss_start
    adrp    x10, __bss_end
    add     x10, x10, :lo12:__bss_end
1:  cmp     x9, x10
    b.hs    2f
    stp     xzr, xzr, [x9], #16
    stp     xzr, xzr, [x9], #16
    stp     xzr, xzr, [x9], #16
    stp     xzr, xzr, [x9], #16
    b       1b
2:
    // nopscope_boot_early(exception_level, device_tree) returns SCTLR_EL1's value.
    lsr     w0, w19, #2
    mov     x1, x21
    bl      nopscope_boot_early
    mov     x20, x0

    for_each_line ivac, __data_start, __image_end
    ic      iallu
    tlbi    vmalle1
    dsb     sy
    isb
    msr     sctlr_el1, x20
    isb

    // [[noreturn]] void nopscope_boot_late()
    bl      nopscope_boot_late
    b       park

// In: MMU off, EL2 or EL1. Never returns. Until the MMU is on, it reads only memory that start_core
// has cleaned, and writes nothing.
    .global nopscope_secondary_start
nopscope_secondary_start:
    msr     daifset, #0xf
    mrs     x20, mpidr_el1
    tbz     x20, #MPIDR_MT, 1f
    lsr     x20, x20, #8
1:  and     x20, x20, #0xff
    b       any_core

secondary_at_el1:
    adrp    x9, nopscope_secondary_setup
    add     x9, x9, :lo12:nopscope_secondary_setup
    ldp     x10, x11, [x9, #SETUP_MAIR] // and TCR
    msr     mair_el1, x10
    msr     tcr_el1, x11
    ldp     x10, x11, [x9, #SETUP_TTBR0] // and SCTLR
    msr     ttbr0_el1, x10
    ldr     x10, [x9, #SETUP_HAS_KEYS]
    cbz     x10, 1f
    ldp     x12, x13, [x9, #SETUP_KEYS]
    msr     S3_0_C2_C1_0, x12           // APIAKeyLo_EL1
    msr     S3_0_C2_C1_1, x13
    ldp     x12, x13, [x9, #SETUP_KEYS + 16]
    msr     S3_0_C2_C1_2, x12           // APIBKeyLo_EL1
    msr     S3_0_C2_C1_3, x13
    ldp     x12, x13, [x9, #SETUP_KEYS + 32]
    msr     S3_0_C2_C2_0, x12           // APDAKeyLo_EL1
    msr     S3_0_C2_C2_1, x13
    ldp     x12, x13, [x9, #SETUP_KEYS + 48]
    msr     S3_0_C2_C2_2, x12           // APDBKeyLo_EL1
    msr     S3_0_C2_C2_3, x13
1:
    add     x9, x9, #SETUP_STACKS
    ldr     x10, [x9, x20, lsl #3]
    mov     sp, x10
    ic      iallu
    tlbi    vmalle1
    dsb     sy
    isb
    msr     sctlr_el1, x11
    isb

    // [[noreturn]] void nopscope_secondary_main(unsigned core)
    mov     w0, w20
    bl      nopscope_secondary_main
    b       park

    .ltorg
