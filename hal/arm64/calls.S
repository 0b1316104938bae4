// SPDX-License-Identifier: Apache-2.0
// Calls that need instructions C++ has no words for. Prototypes: hal/parts.hpp and asm.hpp.

    .text

// In: \op, stp or ldp. Saves or restores the callee-saved registers above the frame record.
.macro callee_saved op
    \op     x19, x20, [sp, #16]
    \op     x21, x22, [sp, #32]
    \op     x23, x24, [sp, #48]
    \op     x25, x26, [sp, #64]
    \op     x27, x28, [sp, #80]
    \op     d8, d9, [sp, #96]
    \op     d10, d11, [sp, #112]
    \op     d12, d13, [sp, #128]
    \op     d14, d15, [sp, #144]
.endm

// In: w0 operation, x1 argument. Out: x0. Free: none. If nothing answers, the HLT is undefined:
// nopscope_exception then resumes at the next instruction, x0 unchanged.
    .global nopscope_semihosting
    .global nopscope_semihosting_instruction
    .balign 8
nopscope_semihosting:
    bti     c
nopscope_semihosting_instruction:
    hlt     #0xf000
    ret

// In: x0 function, x1-x3 its arguments. Out: x0. Free: x0-x17 (SMC Calling Convention).
    .global nopscope_psci_hvc
    .balign 8
nopscope_psci_hvc:
    bti     c
    hvc     #0
    ret

    .global nopscope_psci_smc
    .balign 8
nopscope_psci_smc:
    bti     c
    smc     #0
    ret

// In: x0 function, x1 its argument, x2 where to store SP. Out: w0 = 1 the function returned, 0
// recovered from a fault. Frame: the callee-saved registers. x30 is not signed: after a recovery
// PAC would fail.
    .global nopscope_guarded_call
    .global nopscope_guarded_call_recovery
    .balign 8
nopscope_guarded_call:
    bti     c
    stp     x29, x30, [sp, #-160]!
    mov     x29, sp
    callee_saved stp
    mov     x9, sp
    str     x9, [x2]
    mov     x9, x0
    mov     x0, x1
    blr     x9
    mov     w0, #1
    b       1f
nopscope_guarded_call_recovery:
    mov     w0, #0
1:  callee_saved ldp
    ldp     x29, x30, [sp], #160
    ret
