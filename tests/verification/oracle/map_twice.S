// SPDX-License-Identifier: Apache-2.0
// What the oracles' test images share, on QEMU's virt at EL1: their end, and a memory map. RAM is at
// its own address and again MAP_TWICE_ALIAS higher, writable and never executable, like text on the
// tracer's boards.

#define MAP_TWICE_ALIAS 0x4000000000

// Ends QEMU with status 0.
.macro exit_image
    adr     x1, 1f
    mov     w0, #0x18               // SYS_EXIT
    hlt     #0xf000
    b       .
    .balign 8
1:  .quad   0x20026, 0              // ADP_Stopped_ApplicationExit, status
.endm

// In: \table: a page of zeros. Turns on MMU and caches of this core. Free: x0-x2.
.macro map_twice table
    // L1, 1 GiB blocks: [0] device, [1] RAM, [257] RAM again.
    adrp    x0, \table
    mov     x1, #0x0405             // AF, AttrIndx 1, block, valid: device
    movk    x1, #0x0060, lsl #48    // UXN, PXN
    str     x1, [x0]
    mov     x1, #0x40000000
    movk    x1, #0x0701             // AF, inner shareable, AttrIndx 0, block, valid
    str     x1, [x0, #8]
    movk    x1, #0x0060, lsl #48
    str     x1, [x0, #257 * 8]
    mov     x1, #0x04ff             // MAIR: 0 write-back, 1 device nGnRE
    msr     mair_el1, x1
    // IPS 40 bits, EPD1, 4 KiB granule, inner shareable, write-back, T0SZ 25
    ldr     x1, =0x0000000200803519
    msr     tcr_el1, x1
    msr     ttbr0_el1, x0
    dsb     sy
    isb
    mrs     x1, sctlr_el1
    mov     x2, #0x1005             // I, C, M
    orr     x1, x1, x2
    msr     sctlr_el1, x1
    isb
.endm
