// SPDX-License-Identifier: Apache-2.0
// Notes a longjmp at once. The linker's --wrap=longjmp puts this before the C library's longjmp
// (docs/porting.md). Without it the recording learns of a longjmp only with the next record. Until
// then time counts for the call that longjmp left.

#include "tracer/arch/riscv64/report_leaving.h"

    .section .text.nopscope_recorders, "ax", %progbits

// [[noreturn]] void __wrap_longjmp(jmp_buf, int): stores the current position and time, and goes on
// to longjmp. It stores no stack pointer: the next call or return shows which calls were left.
// In, Free: the psABI's. Frame: none.
function __wrap_longjmp
    .cfi_startproc
    report_leaving untraced=1f
1:  tail    __real_longjmp
    .cfi_endproc
end_of __wrap_longjmp
