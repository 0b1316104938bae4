// SPDX-License-Identifier: Apache-2.0
// clang-format off
// Assembly: tells a debugger where the caller is, at each instruction between a function and its
// caller. This is DWARF call frame information in .debug_frame, which is in no segment. The image
// in memory is the same without it.
//
// The traced function's BL calls an entry. So the entry's caller is the body, and x9 holds the
// body's x30: two rules where a function has one. Nothing calls a hook. Until it has loaded the
// return address, x30 is undefined, and only the shadow stack knows the caller.
// host-tools/gdb/nopscope-gdb.py looks there if x30 and x9 are undefined: no compiler emits that.
#pragma once

    .cfi_sections .debug_frame

#define DWARF_PC         32     // AADWARF64, 4.1

// Begins an entry's rules: x30 is the body, x9 the return address. They end at .cfi_endproc.
.macro entry_unwinds
    .cfi_startproc
    .cfi_register DWARF_PC, 30
    .cfi_register 30, 9
.endm

// Begins the rules of a hook that does not know the return address yet. They end at .cfi_endproc.
.macro hook_unwinds
    .cfi_startproc
    .cfi_undefined 30
    .cfi_undefined 9
.endm
