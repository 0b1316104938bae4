// SPDX-License-Identifier: Apache-2.0
// What longjmp leaves, told at once: the linker's --wrap=longjmp puts this before the C library's (docs/porting.md).
// Without it the recording learns of a longjmp with the next record, and until then time counts for the call that
// was left.

#include "tracer/arch/arm64/recorder.h"

    .arch armv8-a

    .section .text.nopscope_recorders, "ax", %progbits

// [[noreturn]] void __wrap_longjmp(jmp_buf, int): notes when it was, for unwind() (shadow_stack.hpp), and goes on. No
// stack pointer: whoever is called or returns next shows what was left. An interrupt that records before makes the note void.
// In, Free: AAPCS. Frame: none. told_before instructions until the clock is read, told_after behind it.
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
