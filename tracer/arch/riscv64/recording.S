// SPDX-License-Identifier: Apache-2.0
// All code that runs between a traced function and its caller. It is one object, so it is one range
// of addresses: tests ask whether a pc lies in it.
#include "tracer/arch/riscv64/recorder.h"

    .section .text.nopscope_recorders, "ax", %progbits
    .balign 64
label nopscope_recording
#include "tracer/arch/riscv64/stubs.S"
#include "tracer/arch/riscv64/recorders.S"
#include "tracer/arch/riscv64/profile.S"
#include "tracer/arch/riscv64/duration.S"
#include "tracer/arch/riscv64/sampled.S"
#include "tracer/arch/riscv64/callbacks.S"
#include "tracer/arch/riscv64/callback_hook.S"
    .section .text.nopscope_recorders, "ax", %progbits
label nopscope_recording_end
    .globl  nopscope_recording_bytes
    .set    nopscope_recording_bytes, nopscope_recording_end - nopscope_recording
