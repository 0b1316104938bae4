// SPDX-License-Identifier: Apache-2.0
// Ends the calls that a C++ exception left. The linker's --wrap=__cxa_begin_catch puts this before
// libstdc++'s function, which each handler calls first (docs/porting.md). Without it the recording
// learns of them with the next record, as after a longjmp.

#include "tracer/arch/arm64/report_leaving.h"

    .arch armv8-a

    .section .text.nopscope_recorders, "ax", %progbits

// void* __wrap___cxa_begin_catch(void*): ends the calls below the function that has the handler, at
// this moment, and goes on to __cxa_begin_catch. It does not wait for the next call, which may come
// too late: when an interrupt is over, a recorder that it interrupted may use the same frames. On a
// stack that is not this context's, SP says nothing about calls.
// In, Free: AAPCS. Frame: none.
function __wrap___cxa_begin_catch
    .cfi_startproc
    hint    #34                         // bti c
    report_leaving untraced=1f
    mov     x9, x30                     // the caller, for call_cxx
    mov     x11, sp
    ldr     x13, [x10, #CORE_STACK_LOW]
    ldr     x14, [x10, #CORE_STACK_HIGH]
    cmp     x11, x13
    ccmp    x11, x14, #CARRY, hs
    b.hs    1f
    call_cxx nopscope_unwind_at_entry, moment=1, before=9
1:  b       __real___cxa_begin_catch
    .cfi_endproc
end_of __wrap___cxa_begin_catch
