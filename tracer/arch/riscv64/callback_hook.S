// SPDX-License-Identifier: Apache-2.0
// The hook to which a call returns that a ReturnOps has hooked (return_ops.hpp).

#include "tracer/arch/riscv64/recorder.h"

// ReturnRegs, the old s0, and this hook's address, which the call's own return address was.
#define HOOK_REGS_SP          72
#define HOOK_FP               96
#define HOOK_LINK             104
#define HOOK_FRAME_BYTES      112

    .section .text.nopscope_recorders, "ax", %progbits

// No call before the hook returns to it (recorders/unwinder.cpp). The label is for debuggers.
label nopscope_hook_guard
    nop

// void nopscope_callback_hook: calls exit(...) of the call's ops and goes on to the caller.
// In: a0-a7, fa0-fa7 results, SP as at the call's entry; reached by RET. Out: at the caller's return
// address, a0-a7 as the exit left them. Free: t0-t6, ra. Frame: ReturnRegs, and a frame record.
function nopscope_callback_hook
    hook_unwinds
    mv      t1, sp
    addi    sp, sp, -HOOK_FRAME_BYTES
    .cfi_adjust_cfa_offset HOOK_FRAME_BYTES
    la      ra, nopscope_callback_hook
    sd      s0, HOOK_FP(sp)
    sd      ra, HOOK_LINK(sp)
    .cfi_rel_offset s0, HOOK_FP
    mv      s0, t1
    save_arguments
    sd      zero, HOOK_REGS_SP - 8(sp)
    sd      t1, HOOK_REGS_SP(sp)
    mv      a0, sp
    call    nopscope_on_return
    .cfi_register ra, a0
    mv      t2, a0
    .cfi_register ra, t2
    load_arguments
    ld      s0, HOOK_FP(sp)
    .cfi_restore s0
    addi    sp, sp, HOOK_FRAME_BYTES
    .cfi_adjust_cfa_offset -HOOK_FRAME_BYTES
    jr      t2
    .cfi_endproc
end_of nopscope_callback_hook
