// SPDX-License-Identifier: Apache-2.0
// The hostile stub: firmware at EL3 that runs before an image under QEMU. It fills everything that
// the architecture calls UNKNOWN with garbage. Without it QEMU leaves zeros, which hides an image
// that relies on them.
//
// The boot core sets up the interrupt groups as TF-A does. It fills memory that no loader filled,
// and registers whose reset value is UNKNOWN. Then it enters the image in the Non-secure state.
// Other cores wait until the image starts them by PSCI (SMC) or the Raspberry Pi's spin table.
//
// The stub keeps the vectors of EL3, and at first those of EL2. An unexpected exception there is
// the image's fault: the stub reports it and ends QEMU with status 99.
//
// hostile.py defines these numbers: CORES; IMAGE_ENTRY; ENTRY_LEVEL (2 or 1); MT (1: Aff1 has the
// core's number, as on every core with BTI); GIC (3 or 2; 0: a GIC without security), GIC_BASE,
// GIC_SECOND (first redistributor, or CPU interface); GARBAGE_LOW, GARBAGE_HIGH (memory to fill);
// SPIN_TABLE (0: none); ZYNQMP (1: the other cores are held in reset); SECOND_STAGE (1: the image
// begins at EL1 and sees memory and devices at second_stage.S's addresses).

#define GARBAGE 0xa5a5a5a5a5a5a5a5

#define SCR_NS (1 << 0)
#define SCR_FIQ (1 << 2)            // Group 0 goes to EL3: the image has the Non-secure view
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

#define CORE_STATE 0                // 0 on, 1 off, 2 starting: PSCI's numbers
#define CORE_ENTRY 8
#define CORE_BYTES 64

// Out: \to = the physical core's number, QEMU's Aff0.
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

// Branches to \absent if the field of the ID register is 0. Changes x9.
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

// Changes x1.
.macro set register, value
    ldr     x1, =\value
    msr     \register, x1
.endm

    .section .text, "ax"
    .global _start
_start:
    set     vbar_el3, el3_vectors
    set     sctlr_el3, 0x30c50830       // RES1, MMU off
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
    // Sets the APU's reset vectors and takes its cores 1 to 3 out of reset: UG1087, APU and CRF_APB.
    ldr     x0, =0xfd5c0040             // RVBARADDR0L; each core has two words
    ldr     x1, =_start
    mov     x2, #CORES
1:  str     w1, [x0], #4
    str     wzr, [x0], #4
    subs    x2, x2, #1
    b.ne    1b
    ldr     x0, =0xfd1a0104             // RST_FPD_APU
    str     wzr, [x0]
#endif
    ldr     x19, =IMAGE_ENTRY
    b       enter_image

// Another core waits here until the image has given its entry address.
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

// In: x19 the address to enter, x20 the core's number. Never returns.
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
    set     vbar_el1, el1_vectors       // UNKNOWN, too
    ldr     x30, =GARBAGE
.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29
    add     x\n, x30, #\n
.endr
    eret

#include "garbage.S"
#include "interrupt_groups.S"
#include "exceptions.S"

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
#if SECOND_STAGE
#include "second_stage.S"
#endif
    .balign 4096
stacks:
    .skip   8 * 4096
