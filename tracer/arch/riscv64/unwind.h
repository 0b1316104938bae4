// SPDX-License-Identifier: Apache-2.0
// clang-format off
// Assembly: tells a debugger where the caller is, at each instruction between a function and its
// caller (.debug_frame, which is in no segment). The traced function's JALR calls an entry by t0, so
// the entry's caller is the body. Nothing calls a hook: until it has loaded the return address, only
// the shadow stack knows the caller (host-tools/gdb/nopscope-gdb.py).
#pragma once

    .cfi_sections .debug_frame

// Begins an entry's rules. They end at .cfi_endproc.
.macro entry_unwinds
    .cfi_startproc
    .cfi_return_column 5                // t0
.endm

// Begins the rules of a hook that does not know the return address yet. They end at .cfi_endproc.
.macro hook_unwinds
    .cfi_startproc
    .cfi_undefined ra
    .cfi_undefined t0
.endm
