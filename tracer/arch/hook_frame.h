// SPDX-License-Identifier: Apache-2.0
// The frame description that libgcc's unwinder gets for a hook (recorders/unwinder.cpp). It is not
// in .eh_frame: there a description must be in the same object as its code.
//
// libgcc tells frames apart by their CFA, and a hook must not look like its caller: it would be
// taken for the frame with the handler. So the hook has a CFA of its own, 8 above the SP of both.
//
// LR and SP: DWARF's numbers of these registers, which the architecture defines.

#pragma once

#include "nopscope_offsets.h"

// DWARF 5, 6.4.2 and 7.7.1; DW_EH_PE_ and the augmentation: Linux Standard Base, "DWARF
// Extensions".
#define DW_CFA_def_cfa 0x0c
#define DW_CFA_val_offset 0x14
#define DW_CFA_val_expression 0x16
#define DW_EH_PE_udata4 0x03
#define DW_EH_PE_datarel 0x30
#define DW_OP_deref 0x06
#define DW_OP_const1u 0x08
#define DW_OP_dup 0x12
#define DW_OP_drop 0x13
#define DW_OP_over 0x14
#define DW_OP_pick 0x15
#define DW_OP_swap 0x16
#define DW_OP_minus 0x1c
#define DW_OP_plus_uconst 0x23
#define DW_OP_bra 0x28
#define DW_OP_eq 0x29
#define DW_OP_skip 0x2f
#define DW_OP_lit0 0x30
#define DW_OP_GNU_encoded_addr 0xf1

// Operations without an operand.
.macro op first, more:vararg
    .byte   \first
.ifnb \more
    .byte   \more
.endif
.endm
.macro add number
    .byte   DW_OP_plus_uconst, \number
.endm
.macro subtract number
    .byte   DW_OP_const1u, \number, DW_OP_minus
.endm
// The data's base, plus a number that is not 0.
.macro push_base plus
    .byte   DW_OP_GNU_encoded_addr, DW_EH_PE_datarel | DW_EH_PE_udata4
    .4byte  \plus
.endm
.macro skip target
    .byte   DW_OP_skip
    .2byte  \target - (. + 2)
.endm
// Goes to \target if the number on top, which it takes, is not 0.
.macro bra target
    .byte   DW_OP_bra
    .2byte  \target - (. + 2)
.endm

    .section .rodata.nopscope_hook_frame, "a", %progbits
    .balign 8
.Lcommon:
    .4byte  nopscope_hook_frame - 1f
1:  .4byte  0
    .byte   1
    .asciz  "zR"
    .uleb128 4                          // code and data are counted in words of 4 and -8 bytes
    .sleb128 -8
    .uleb128 LR
    .uleb128 1
    .byte   DW_EH_PE_udata4
    .byte   DW_CFA_def_cfa, SP, 8
    .byte   DW_CFA_val_offset, SP, 1    // the caller's SP is the CFA - 8
    .byte   DW_CFA_val_expression, LR
    .byte   .Lexpression_end - .Lexpression  // a uleb128: below 128
// In: the CFA; the base: the shadow stack's top, plus -1. Out: the caller's address. 0, which ends
// the unwinding: no open call has this SP. The comments show what is on DWARF's stack. libgcc's
// DW_OP_pick does not take the lowest number, so the CFA stays there.
.Lexpression:
    op      DW_OP_dup
    subtract 8
    push_base plus=1                    // cfa sp frame
.Leach_frame:
    subtract SHADOW_BYTES
    op      DW_OP_dup
    add     SHADOW_SP
    op      DW_OP_deref                 // cfa sp frame frame_sp
    op      DW_OP_dup, DW_OP_pick, 3, DW_OP_eq
    bra     .Lfound
    op      DW_OP_drop, DW_OP_dup, DW_OP_deref
    bra     .Leach_frame
    op      DW_OP_lit0                  // the sentinel, which has no return address
    skip    .Lexpression_end
// After a tail call, or with a ReturnOps beside a recorder, several frames lie together that have
// this SP. The lowest one has the caller's address, the others have hooks.
.Llower:
    op      DW_OP_swap
    subtract SHADOW_BYTES
    op      DW_OP_swap
.Lfound:
    op      DW_OP_over
    subtract SHADOW_BYTES - SHADOW_SP
    op      DW_OP_deref, DW_OP_over, DW_OP_eq
    bra     .Llower
    op      DW_OP_drop, DW_OP_deref
.Lexpression_end:
    .balign 4, 0

    .globl  nopscope_hook_frame
nopscope_hook_frame:
    .4byte  2f - 1f
1:  .4byte  1b - .Lcommon
    .4byte  0, 0                        // its code: nobody looks
    .uleb128 0
    .balign 4, 0
2:
