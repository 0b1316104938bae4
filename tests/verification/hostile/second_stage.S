// SPDX-License-Identifier: Apache-2.0
// Stage 2 translation tables (Arm ARM DDI 0487, D8.3). They make QEMU's virt machine look like a
// Raspberry Pi 5: memory from 0, and the debug UART and the GIC at the addresses of
// hal/boards/rpi5.cpp. Nothing else is mapped.

#define NORMAL_BLOCK 0x7fd              // write-back, read and write, inner shareable, accessed
#define DEVICE_PAGE 0x4c7               // nGnRE, read and write, accessed
#define TABLE 3

    .balign 4096
second_stage:                           // level 1: 1 GiB each
    .quad   memory_blocks + TABLE
    .skip   64 * 8
    .quad   device_pages + TABLE        // 65: from 0x10'4000'0000
    .skip   446 * 8
memory_blocks:                          // 2 MiB each, to the end in linker/rpi5.ld
    .set    at, 0x40200000              // QEMU's device tree lies below; the same as in hostile.py
    .rept   0x3c000000 >> 21
    .quad   at + NORMAL_BLOCK
    .set    at, at + (1 << 21)
    .endr
    .balign 4096
device_pages:
    .skip   488 * 8
    .quad   uart_pages + TABLE          // from 0x10'7d00'0000
    .skip   22 * 8
    .quad   gic_pages + TABLE           // from 0x10'7fe0'0000
uart_pages:
    .skip   1 * 8
    .quad   0x09000000 + DEVICE_PAGE    // 0x10'7d00'1000: PL011
    .skip   510 * 8
gic_pages:
    .skip   505 * 8
    .quad   0x08000000 + DEVICE_PAGE    // 0x10'7fff'9000: the distributor
    .quad   0x08010000 + DEVICE_PAGE    // 0x10'7fff'a000: the CPU interface
    .quad   0x08011000 + DEVICE_PAGE
    .skip   4 * 8
