// SPDX-License-Identifier: Apache-2.0
// An image that does on two cores what the tracer does to one patch site, with one wrong step.
// coherence_cases.py tests the coherence oracle with it. WRONG is the name of the wrong step. All steps
// are right if no step has this name.
//
// Core 0 makes the site (init), starts core 1, and traces the site (enable). Both cores call it.
// Core 0 stops tracing it (disable), and both call it again. Core 1 synchronises or calls, as told.
// On both, x28 is the alias's distance. The image is linked at 0x40080000 and enters at _start,
// at EL1, on QEMU's virt machine. It has the tracer's labels that the oracle looks for.

#include "map_twice.S"

#define NOP 0xd503201f
#define MOV_X9_LR 0xaa1e03e9
#define TELL_SYNCHRONISE 1
#define TELL_CALL 2

#define LIST_COUNT 56

#define request_init _ZN8nopscope4initE
#define request_enable _ZN8nopscope6enableE
#define request_disable _ZN8nopscope7disableE
#define none_ops _ZN8nopscope12_GLOBAL__N_18none_opsE
#define patcher _ZN8nopscope12_GLOBAL__N_17patcherE
#define guarded _ZN8nopscope7guardedEmmPNS_3OpsEPNS_4RegsE

// Assembles the instruction only if \step is the wrong one, or if it is not.
.macro when step, instruction:vararg
    .ifc    \step, WRONG
    \instruction
    .endif
.endm
.macro unless step, instruction:vararg
    .ifnc   \step, WRONG
    \instruction
    .endif
.endm
// In: x1 the value. Writes it to the word or slot at \at (executable address), by the alias.
.macro write register, at
    adr     x2, \at
    str     \register, [x2, x28]
.endm
// Out: w1 the BL from the site's word to \target. Free: x2.
.macro make_bl target
    adr     x1, \target
    adr     x2, site_word
    sub     x1, x1, x2
    ubfx    x1, x1, #2, #26
    mov     w2, #0x94000000
    orr     w1, w1, w2
.endm
.macro address register, of
    adrp    \register, \of
    add     \register, \register, :lo12:\of
.endm

    .section .text, "ax"
    .global _start
_start:
    map_twice table
    mov     x28, #MAP_TWICE_ALIAS
    address x9, stack_top
    mov     sp, x9
    address x9, vectors
    msr     vbar_el1, x9
    isb
    bl      request_init

    ldr     x0, =0xc4000003         // PSCI CPU_ON: core 1, its entry, its argument
    mov     x1, #1
    adr     x2, other_core
    mov     x3, xzr
    hvc     #0
    mov     w0, #TELL_SYNCHRONISE
    bl      tell

    bl      request_enable
    when    STRAY, bl change_site
    address x0, traced_ops
    when    FREED, str xzr, [x0]
#ifdef DELAYED
    // Core 1 has read the slot. It synchronises again and again while core 0 continues.
    address x1, told
    mov     w0, #TELL_CALL
    stlr    w0, [x1]
    bl      see_rounds
    address x0, traced_list
    mov     w2, #2
    when    LIST_CHANGED, str wzr, [x0, #LIST_COUNT]
    when    LIST_CHANGED, str w2, [x0, #LIST_COUNT]
    when    IN_USE, bl request_disable
    address x0, leave
    mov     w2, #1
    stlr    w2, [x0]
1:  yield
    address x1, told
    ldar    w0, [x1]
    cbnz    w0, 1b
#else
    bl      function
    mov     w0, #TELL_CALL
    bl      tell
    bl      request_disable
#endif
    bl      function
    mov     w0, #TELL_CALL
    bl      tell

    exit_image

// Removes the site's BL and writes it again, and tells core 1 each time.
change_site:
    mov     x19, x30
    ldr     w1, =NOP
    bl      change_word
    make_bl nopscope_callback
    mov     x30, x19
change_word:
    mov     x20, x30
    write   w1, site_word
    bl      maintain
    mov     x30, x20
    mov     w0, #TELL_SYNCHRONISE
// In: w0 core 1's work. Returns when it is done. No barrier: the test is about barriers.
tell:
    address x1, told
    stlr    w0, [x1]
1:  yield                           // under -icount the other core runs now
    ldar    w0, [x1]
    cbnz    w0, 1b
    ret

// Returns when core 1 has made another two rounds of its delay. Free: x0, x2, x3.
see_rounds:
    address x0, rounds
    ldr     w2, [x0]
1:  yield
    ldr     w3, [x0]
    sub     w3, w3, w2
    cmp     w3, #2
    b.lo    1b
    ret

other_core:
    map_twice table
    mov     x28, #MAP_TWICE_ALIAS
    address x9, other_stack_top
    mov     sp, x9
1:  yield
    address x1, told
    ldar    w0, [x1]
    cbz     w0, 1b
    cmp     w0, #TELL_CALL
    b.eq    2f
    isb
    b       3f
2:  bl      function
3:  address x1, told
    stlr    wzr, [x1]
    b       1b

// ---- requests ----

    .global request_init, request_enable, request_disable
request_init:
    stp     x29, x30, [sp, #-16]!
    address x1, none_ops
    write   x1, site
    ldr     w1, =MOV_X9_LR
    write   w1, site_mov
    bl      maintain
    ldp     x29, x30, [sp], #16
    ret

request_enable:
    stp     x29, x30, [sp, #-16]!
    make_bl nopscope_callback
    when    BL_FIRST, write w1, site_word
    when    STALE, bl maintain
    address x1, traced_ops
    when    LIST_CHANGED, address x1, traced_list
    when    BAD_OBJECT, address x1, told
    unless  TORN_SLOT, write x1, site
    when    TORN_SLOT, write w1, site
    lsr     x3, x1, #32
    when    TORN_SLOT, write w3, site + 4
    lsl     x1, x1, #32
    when    MISALIGNED_SLOT, write x1, site - 4
    unless  NO_DSB_AFTER_SLOT, dsb ish
    ldr     w1, =NOP
    when    WORD_CLASS, write w1, site_mov
    when    WORD_CLASS, bl maintain
    ldr     w1, =MOV_X9_LR
    when    WORD_CLASS, write w1, site_mov
    make_bl nopscope_callback
    when    WRONG_BL, make_bl nopscope_far
    write   w1, site_word
    when    TORN_WORD, strb w1, [x2, x28]

    adr     x0, site_word
    mrs     x3, ctr_el0
    mov     x4, x0
    when    OTHER_LINE, sub x4, x0, #256
    unless  CLEAN_ANYWAY, tbnz x3, #28, 1f      // IDC
    unless  NO_CLEAN, unless STALE, dc cvau, x4
1:  when    LOADS_DSB, dsb ishld
    unless  LOADS_DSB, unless NO_DSB_AFTER_CLEAN, unless NO_DSB, dsb ish
    mov     x4, x0
    when    INVALIDATE_ALIAS, add x4, x0, x28
    unless  INVALIDATE_ANYWAY, tbnz x3, #29, 2f // DIC
    unless  NO_INVALIDATE, unless STALE, ic ivau, x4
2:  when    NARROW_DSB, dsb nsh
    unless  NARROW_DSB, unless NO_DSB_AFTER_INVALIDATE, unless NO_DSB, dsb ish
    when    TWICE, bl maintain
    unless  NO_ISB, isb
    mov     w0, #TELL_SYNCHRONISE
    unless  NO_SYNCHRONISATION, bl tell
    ldp     x29, x30, [sp], #16
    ret

request_disable:
    stp     x29, x30, [sp, #-16]!
    address x3, none_ops
    when    NONE_FIRST, write x3, site
    ldr     w1, =NOP
    write   w1, site_word
    bl      maintain
    address x3, none_ops
    when    NONE_EARLY, write x3, site
#ifdef DELAYED
    bl      see_rounds
#else
    mov     w0, #TELL_SYNCHRONISE
    bl      tell
#endif
    address x3, none_ops
    write   x3, site
    dsb     ish
    mov     w0, wzr                 // ok
    ldp     x29, x30, [sp], #16
    ret

// Does all maintenance of the site's line, and synchronises this core. Free: x0, x3.
maintain:
    adr     x0, site_word
    mrs     x3, ctr_el0
    tbnz    x3, #28, 1f
    dc      cvau, x0
1:  dsb     ish
    tbnz    x3, #29, 2f
    ic      ivau, x0
2:  dsb     ish
    isb
    ret

// ---- the site, alone in its cache line, and the trampolines that its BL may go to ----

    .balign 1024                    // nothing else is in its line, nor in the two lines after it
    .skip   512 - 16
    .skip   8
    nop
    nop
site:
    nop
    nop
function:
    bti     c
site_mov:
    nop
site_word:
    nop
    cbz     x9, 1f
    mov     x9, xzr
1:  ret
    .balign 256

    .global nopscope_callback, nopscope_callback_end, nopscope_far
nopscope_callback:
    and     x10, x30, #~7
    ldr     x10, [x10, #-16]
#ifdef DELAYED
    mrs     x11, mpidr_el1
    tst     x11, #0xff
    b.eq    2f
    address x11, rounds
1:  isb
    ldr     w12, [x11]
    add     w12, w12, #1
    str     w12, [x11]
    yield
    ldr     w12, [x11, #leave - rounds]
    cbz     w12, 1b
2:
#endif
    ldr     x10, [x10, #8]          // OPS_DIRECT
    mov     x10, x30
    mov     x30, x9
    ret     x10
nopscope_callback_end:
nopscope_far:
    b       nopscope_callback
nopscope_far_end:
nopscope_callback_unguarded:
    nop
nopscope_callback_unguarded_made:
    nop
nopscope_callback_unguarded_end:
nopscope_walk_list:
    ret
guarded:
    ret
no_callback:
    ret
a_callback:
    ret

// ---- memory ----

    .balign 2048
vectors:
    .rept   16
    .balign 128
    b       .
    .endr
    .ltorg

    .section .data, "aw"
    .balign 64
none_ops:
    .quad   no_callback, 0, 0, 0, no_callback, 0, 0, 0
traced_ops:
    .quad   a_callback, 0, 0, 0, guarded, 0, 0, 0
patcher:
traced_list:
    .quad   nopscope_walk_list, 0, 0, 0, guarded, 0
    .word   0, 0, 2, 0              // units, refs, count, next
    .quad   traced_ops, traced_ops
    .size   patcher, . - patcher
rounds:
    .word   0
leave:
    .word   0
    .balign 8
    .global __nopscope_sites_start, __nopscope_sites_end
__nopscope_sites_start:
    .quad   site
__nopscope_sites_end:

    .section .bss, "aw", %nobits
    .balign 4096
table:
    .skip   4096
told:
    .skip   4096
stack_top:
    .skip   4096
other_stack_top:
