// SPDX-License-Identifier: Apache-2.0
// An image whose counts a reader can derive from its code. known_counts.py tests the oracle with
// it. The image turns the MMU on and maps RAM twice: at its own address, and 0x40_0000_0000 higher.
// It toggles two sites by stores through the second mapping, as the tracer does, and runs them:
//
//     function   as NOP          as BL
//     first      7 + 3 + 1000    5 + 1000     layout with bti c
//     second     1               40           layout without; patched before it ever ran, and
//                                             then left once while the loop that calls it runs
//     never      0               0
//
// It is linked at 0x40080000 and enters at _start, at EL1, on QEMU's virt machine.

#include "map_twice.S"

    .equ    alias, MAP_TWICE_ALIAS
    .equ    nop_word, 0xd503201f

    .section .text, "ax"
    .global _start
_start:
    adrp    x0, stack_top
    add     sp, x0, :lo12:stack_top

    map_twice table

    mov     x20, #7
1:  bl      first
    subs    x20, x20, #1
    b.ne    1b

    bl      enable_first
    mov     x20, #5
1:  bl      first
    subs    x20, x20, #1
    b.ne    1b
    bl      disable_first
    mov     x20, #3
1:  bl      first
    subs    x20, x20, #1
    b.ne    1b

    mov     x20, #1000
1:  bl      enable_first
    bl      first
    bl      disable_first
    bl      first
    subs    x20, x20, #1
    b.ne    1b

    adr     x0, second_word
    adr     x1, trampoline
    bl      write_bl
    mov     x20, #41
1:  cmp     x20, #17
    b.ne    2f
    adr     x0, second_word
    ldr     w1, =nop_word
    bl      write_word
2:  bl      second
    cmp     x20, #17
    b.ne    3f
    adr     x0, second_word
    adr     x1, trampoline
    bl      write_bl
3:  subs    x20, x20, #1
    b.ne    1b

    exit_image

enable_first:
    adr     x0, first_word
    adr     x1, trampoline
    b       write_bl
disable_first:
    adr     x0, first_word
    ldr     w1, =nop_word
    b       write_word

// In: x0 address of a word of text, x1 the BL's target. Free: x0-x3.
write_bl:
    sub     x1, x1, x0
    ubfx    x1, x1, #2, #26
    mov     w2, #0x94000000
    orr     w1, w1, w2
// In: x0 address of a word of text, w1 the word. Free: x2.
write_word:
    mov     x2, #alias
    add     x2, x2, x0
    str     w1, [x2]
    dc      cvau, x0
    dsb     ish
    ic      ivau, x0
    dsb     ish
    isb
    ret

trampoline:
    ret     x30

    .balign 8
first_site:
    nop
    nop
first:
    bti     c
    mov     x9, x30
first_word:
    nop
    mov     x30, x9
    ret

    .balign 8
second_site:
    nop
    nop
second:
    mov     x9, x30
second_word:
    nop
    mov     x30, x9
    ret

    .balign 8
never_site:
    nop
    nop
never:
    mov     x9, x30
    nop
    ret

    .section .data, "aw"
    .balign 8
    .global __nopscope_sites_start, __nopscope_sites_end
__nopscope_sites_start:
    .quad   never_site, first_site, 0, second_site, first_site
__nopscope_sites_end:

    .section .bss, "aw", %nobits
    .balign 4096
table:
    .skip   4096
    .skip   4096
stack_top:
