// SPDX-License-Identifier: Apache-2.0
// An image whose mispredicted returns a reader can derive. known_returns.py has the counts and
// tests the model of a return predictor. `drain` empties the return stack before each row.
//
// It is linked at 0x40080000 and enters at _start, at EL1, on QEMU's virt machine.

#include "map_twice.S"

    .equ    bl_to_trampoline, 0x94000000

// A function with a frame, which calls another one.
.macro calls name, callee
\name:
    stp     x29, x30, [sp, #-16]!
    bl      \callee
    ldp     x29, x30, [sp], #16
    ret
.endm

// \rounds calls of \function, in a separate row.
.macro row name, function, rounds
    .pushsection .data
8:  .asciz  "\name"
    .popsection
    bl      drain
    adr     x0, 8b
    bl      chain_mark
    mov     x20, #\rounds
1:
    .ifc    \name, path
    .globl  chain_head
chain_head:
    .endif
    bl      \function
    subs    x20, x20, #1
    b.ne    1b
    mov     x0, #0
    bl      chain_mark
.endm

    .arch   armv8.3-a
    .section .text, "ax"
    .global _start, chain_mark
_start:
    adrp    x0, stack_top
    add     sp, x0, :lo12:stack_top
    adr     x0, vectors
    msr     vbar_el1, x0
    isb

    row     deep, level_12, 10
    row     recursive, recursive_20, 10
    row     short, over_hook_2, 10
    row     mended, over_mended_2, 10
    row     jumped, over_jumped_2, 10
    row     "two callers", alternate, 10
    row     interrupted, over_svc, 10
    row     signed, with_pac, 10
    row     path, over_hook_1, 51
    row     "idle site", over_site, 5
    adr     x0, site_word
    ldr     w1, bl_word
    str     w1, [x0]
    dc      cvau, x0
    dsb     ish
    ic      ivau, x0
    dsb     ish
    isb
    row     "live site", over_site, 5

    exit_image

// Makes more returns than any stack has entries.
drain:
    mov     x9, x30
    .rept   40
    adr     x10, 1f
    ret     x10
1:
    .endr
    ret     x9                      // the stack is empty: mispredicted, but in no row

chain_mark:
    ret

// ---- the program's functions, without sites
leaf:
    ret
    calls   level_1, leaf
    .altmacro
.macro next above, below
    calls   level_\above, level_\below
.endm
    .set    number, 1
    .rept   11
    next    %(number + 1), %number
    .set    number, number + 1
    .endr

// 20 deep. All but the outermost call return to the same place.
recursive_20:
    mov     x19, #20
again:
    cbz     x19, 1f
    sub     x19, x19, #1
    stp     x29, x30, [sp, #-16]!
    bl      again
    ldp     x29, x30, [sp], #16
1:  ret

// Returns to \hook, like a function whose call is hooked.
.macro hooked name, hook
\name:
    mov     x11, x30
    adr     x30, \hook
    ret
.endm
    hooked  to_plain, plain_hook
    hooked  to_mended, mended_hook
    hooked  to_jumping, jumping_hook
    calls   over_hook_1, to_plain
    calls   over_hook_2, over_hook_1
    calls   over_mended_1, to_mended
    calls   over_mended_2, over_mended_1
    calls   over_jumped_1, to_jumping
    calls   over_jumped_2, over_jumped_1

// One hook with two callers in turn: its BR never goes to its last target.
alternate:
    stp     x29, x30, [sp, #-16]!
    bl      to_jumping
    bl      to_jumping
    ldp     x29, x30, [sp], #16
    ret

over_svc:
    stp     x29, x30, [sp, #-16]!
    svc     #0
    ldp     x29, x30, [sp], #16
    ret

with_pac:
    paciasp
    stp     x29, x30, [sp, #-16]!
    bl      leaf
    ldp     x29, x30, [sp], #16
    retaa

    calls   over_site, site
    .balign 8
site_start:
    nop
    nop
    .type   site, %function
site:
    mov     x9, x30
site_word:
    nop
    ret
    .size   site, . - site
    .balign 4
bl_word:
    .word   bl_to_trampoline + ((trampoline - site_word) >> 2)

// ---- code that represents the tracer
    .global tracer_low, tracer_high
    .balign 64
tracer_low:
    brk     #0
    .global plain_hook, plain_hook_end, mended_hook, mended_hook_end, jumping_hook, jumping_hook_end
plain_hook:
    mov     x9, x11
    ret     x9
plain_hook_end:
mended_hook:
    bl      1f
    brk     #0
1:  mov     x9, x11
    ret     x9
mended_hook_end:
jumping_hook:
    mov     x9, x11
    br      x9
jumping_hook_end:
trampoline:
    mov     x10, x30
    mov     x30, x9
    ret     x10
tracer_high:

    .balign 0x800
vectors:
    .rept   4
    .balign 0x80
    b       .
    .endr
    .balign 0x80
    stp     x29, x30, [sp, #-16]!   // current EL with SPx, synchronous
    bl      leaf
    ldp     x29, x30, [sp], #16
    eret
    .balign 0x800

    .section .data, "aw"
    .balign 8
    .global __nopscope_sites_start, __nopscope_sites_end
__nopscope_sites_start:
    .quad   site_start
__nopscope_sites_end:

    .section .bss, "aw", %nobits
    .balign 4096
    .skip   4096
stack_top:
