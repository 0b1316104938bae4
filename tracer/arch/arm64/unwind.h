// SPDX-License-Identifier: Apache-2.0
// clang-format off
// Assembly: where a debugger finds the caller, at each instruction between a function and its caller. This is DWARF call
// frame information in .debug_frame, which is in no segment: the image in memory is the same without it.
//
// An entry was called by the traced function's BL. So its caller is the body, and the body's x30 is what x9 holds:
// two rules where a function has one. A hook was called by nobody. Until it has loaded the return address, x30
// is undefined, and only the shadow stack knows the caller. host-tools/gdb/nopscope-gdb.py looks there if both x30 and x9
// are undefined, which no compiler says.
#pragma once

    .cfi_sections .debug_frame

#define DWARF_PC         32     // AADWARF64, 4.1

// From here on: an entry, x30 the body, x9 the return address. Up to .cfi_endproc.
.macro entry_unwinds
    .cfi_startproc
    .cfi_register DWARF_PC, 30
    .cfi_register 30, 9
.endm

// From here on: a hook that does not know the return address yet. Up to .cfi_endproc.
.macro hook_unwinds
    .cfi_startproc
    .cfi_undefined 30
    .cfi_undefined 9
.endm
