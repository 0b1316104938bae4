// SPDX-License-Identifier: Apache-2.0
// Ends the calls that a C++ exception left. The linker's --wrap=__cxa_begin_catch puts this before
// libstdc++'s function, which each handler calls first (docs/porting.md). Without it the recording
// learns of them with the next record, as after a longjmp.

#include "tracer/arch/riscv64/report_leaving.h"

    .section .text.nopscope_recorders, "ax", %progbits

// void* __wrap___cxa_begin_catch(void*): ends the calls below the function that has the handler, at
// this moment, and goes on to __cxa_begin_catch. It does not wait for the next call, which may come
// too late: when an interrupt is over, a recorder that it interrupted may use the same frames. On a
// stack that is not this context's, SP says nothing about calls.
// In, Free: the psABI's. Frame: none.
function __wrap___cxa_begin_catch
    .cfi_startproc
    report_leaving untraced=1f
    ld      t3, CORE_STACK_LOW(tp)
    bltu    sp, t3, 1f
    ld      t3, CORE_STACK_HIGH(tp)
    bgeu    sp, t3, 1f
    call_cxx nopscope_unwind_at_entry, moment=1, before=8
1:  tail    __real___cxa_begin_catch
    .cfi_endproc
end_of __wrap___cxa_begin_catch
