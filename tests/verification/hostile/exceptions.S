// SPDX-License-Identifier: Apache-2.0
// The hostile stub's vectors, its answers to PSCI calls, and its report of unexpected exceptions.

.macro go_to_report level
    mov     x3, #\level
    mrs     x4, esr_el\level
    mrs     x5, elr_el\level
    mrs     x6, far_el\level
    b       report
.endm
.macro unexpected level
    .balign 0x80
    adr     x2, .
    go_to_report \level
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

.macro on_call width, number, to
    ldr     \width\()9, =\number
    cmp     \width\()0, \width\()9
    b.eq    \to
.endm
// Answers PSCI only. As SMCCC 1.0 allows, it destroys x4-x17, which hold garbage afterwards.
smc_from_below:
    mrs     x9, esr_el3
    lsr     x9, x9, #26
    cmp     x9, #0x17                   // SMC, AArch64
    b.eq    1f
    mov     x2, xzr
    go_to_report 3
1:  on_call x, PSCI_CPU_ON, cpu_on
    on_call x, PSCI_AFFINITY_INFO, affinity_info
    on_call w, PSCI_CPU_OFF, cpu_off
    on_call w, PSCI_SYSTEM_OFF, system_off
    on_call w, PSCI_VERSION, version
    mov     w0, #-1                     // the upper half is not sign-extended: it is UNKNOWN
answer:
    ldr     x17, =GARBAGE
.irp n, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16
    mov     x\n, x17
.endr
    eret

version:
    mov     x0, #0x10000                // 1.0
    b       answer

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

// In: x7 `said`.
.macro say register, where
    mov     x8, \register
    add     x9, x7, #(\where - said)
    bl      put_hex
.endm

// In: x2 an address in the vector table, x3 the level, x4 ESR, x5 ELR, x6 FAR. Reports them by
// semihosting (SYS_WRITE0) and ends QEMU.
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
    say     x4, said_esr
    say     x5, said_elr
    say     x6, said_far
    mov     w0, #4                      // SYS_WRITE0
    mov     x1, x7
    hlt     #0xf000
    mov     x5, #99
// In: x5 the exit status.
exit:
    adrp    x1, exit_block
    add     x1, x1, :lo12:exit_block
    str     x5, [x1, #8]
    mov     w0, #0x20                   // SYS_EXIT_EXTENDED
    hlt     #0xf000
1:  wfi
    b       1b

// In: x8 a number, x9 the address for its 16 digits. Changes x8-x11.
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
