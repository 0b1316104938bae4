// SPDX-License-Identifier: Apache-2.0
// Notes a longjmp at once. The linker's --wrap=longjmp puts this before the C library's longjmp
// (docs/porting.md). Without it the recording learns of a longjmp only with the next record. Until
// then time counts for the call that longjmp left.

#include "tracer/arch/arm64/recorder.h"

    .arch armv8-a

    .section .text.nopscope_recorders, "ax", %progbits

// [[noreturn]] void __wrap_longjmp(jmp_buf, int): stores the current position and time for unwind()
// (shadow_stack.hpp), and goes on to longjmp. It stores no stack pointer: the next call or return
// shows which calls were left. If an interrupt records before that, the note is void.
// In, Free: AAPCS. Frame: none. told_before is the number of instructions up to the reading of the
// clock, told_after the number behind it.
function __wrap_longjmp
    .cfi_startproc
    hint    #34                         // bti c
    mrs     x10, NOPSCOPE_TPIDR
    cbz     x10, 1f
    ldr     x11, [x10]
    read_clock x12
    stp     x11, x12, [x10, #CORE_LEFT]
1:  b       __real_longjmp
    .cfi_endproc
end_of __wrap_longjmp
