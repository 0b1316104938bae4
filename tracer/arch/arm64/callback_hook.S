// SPDX-License-Identifier: Apache-2.0
// The hook to which a call returns that a ReturnOps has hooked (return_ops.hpp).

#include "tracer/arch/arm64/recorder.h"

#define HOOK_REGS             16     // ReturnRegs, behind the frame record
#define HOOK_FRAME_BYTES      96

    .arch armv8-a

    .section .text.nopscope_recorders, "ax", %progbits

// No call before the hook returns to it (recorders/unwinder.cpp). The label is for debuggers.
label nopscope_hook_guard
    nop

// void nopscope_callback_hook: calls exit(...) of the call's ops and goes on to the caller.
// In: x0-x8, v0-v7 results, SP as at the call's entry; reached by RET. Out: at the caller's return
// address, x0-x8 as the exit left them. Free: x9-x17, x30. Frame: ReturnRegs, and a frame record
// whose return address is this hook, as the call's own return address was.
function nopscope_callback_hook
    hook_unwinds
    interrupted 0
    begin_hook
    adr     x30, nopscope_callback_hook
    mov     x9, sp
    stp     x29, x30, [sp, #-HOOK_FRAME_BYTES]!
    .cfi_adjust_cfa_offset HOOK_FRAME_BYTES
    .cfi_rel_offset 29, 0
    mov     x29, sp
    save_x0_to_x7 HOOK_REGS
    stp     x8, x9, [sp, #HOOK_REGS + 64]
    add     x0, sp, #HOOK_REGS
    bl      nopscope_on_return
    .cfi_register 30, 0
    mov     x9, x0
    .cfi_register 30, 9
    load_x0_to_x7 HOOK_REGS
    ldr     x8, [sp, #HOOK_REGS + 64]
    ldp     x29, x30, [sp], #HOOK_FRAME_BYTES
    .cfi_restore 29
    .cfi_adjust_cfa_offset -HOOK_FRAME_BYTES
    leave   x9
    .cfi_endproc
end_of nopscope_callback_hook
