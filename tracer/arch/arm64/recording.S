// SPDX-License-Identifier: Apache-2.0
// All code that runs between a traced function and its caller. It is one object, so it is one range
// of addresses: deferral.S and tests ask whether a pc lies in it.
#define NOPSCOPE_RECORDING
#include "tracer/arch/arm64/recorder.h"

#ifdef NOPSCOPE_DEFERS
    .section .rodata.nopscope_rules, "a", %progbits
    .balign 4
label nopscope_rules                    // by address: deferral.S
    .hword  0, 0
    .word   0
#endif
    .section .text.nopscope_recorders, "ax", %progbits
    .balign 64
label nopscope_recording
hook_words_label nopscope_hook_words
#include "tracer/arch/arm64/recorders.S"
#include "tracer/arch/arm64/profile.S"
#include "tracer/arch/arm64/duration.S"
#include "tracer/arch/arm64/sampled.S"
#include "tracer/arch/arm64/callbacks.S"
#include "tracer/arch/arm64/callback_hook.S"
#include "tracer/arch/arm64/deferral.S"
    .section .text.nopscope_recorders, "ax", %progbits
label nopscope_recording_end
hook_words_label nopscope_hook_words_end
    .globl  nopscope_recording_bytes
    .set    nopscope_recording_bytes, nopscope_recording_end - nopscope_recording
