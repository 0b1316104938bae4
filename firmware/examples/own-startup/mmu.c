/* SPDX-License-Identifier: Apache-2.0
 * Page tables with 1 GiB and 2 MiB blocks. Text is read-only where it runs, and writable at
 * TEXT_ALIAS above. Runs with the MMU off: built without patch sites and with -mstrict-align. */
#include "mmu.h"

uint64_t level1[512] __attribute__((aligned(4096)));
uint64_t level2[512] __attribute__((aligned(4096)));

extern char text_start[], data_start[];

uint64_t block(uint64_t physical, unsigned attributes, uint64_t permissions) {
    const uint64_t valid = 1, accessed = 1 << 10;
    return physical | permissions | accessed | attributes << 2 | valid;
}

void mmu_start(void) {
    const uint64_t ram = 0x40000000, table = 3;
    const uint64_t data = NO_EXECUTE | INNER_SHAREABLE, text = READ_ONLY | INNER_SHAREABLE;

    level1[0] = block(0, ATTR_DEVICE, NO_EXECUTE);
    level1[ram >> 30] = (uint64_t)level2 | table;
    level1[(ram + TEXT_ALIAS) >> 30] = block(ram, ATTR_NORMAL, data);
    for (uint64_t at = (uint64_t)data_start; at < (uint64_t)data_start + 8 * BLOCK; at += BLOCK) {
        level2[(at - ram) / BLOCK] = block(at, ATTR_NORMAL, data);
    }
    level2[((uint64_t)text_start - ram) / BLOCK] = block((uint64_t)text_start, ATTR_NORMAL, text);
    mmu_enable();
}

void mmu_enable(void) {
    const uint64_t mair = 0xbb4400ff;  /* write-through, non-cacheable, device, write-back */
    const uint64_t tcr = 25 | 1 << 8 | 1 << 10 | 3 << 12 | UINT64_C(1) << 23 | UINT64_C(2) << 32;
    __asm__ volatile("msr mair_el1, %0\n\tmsr tcr_el1, %1\n\tmsr ttbr0_el1, %2\n\tisb\n\t"
                     "tlbi vmalle1\n\tdsb ish\n\tic iallu\n\tdsb ish\n\tisb" ::"r"(mair), "r"(tcr), "r"(level1)
                     : "memory");
    uint64_t sctlr;
    __asm__ volatile("mrs %0, sctlr_el1" : "=r"(sctlr));
    sctlr |= 1 << 0 | 1 << 2 | 1 << 12;  /* MMU, data cache, instruction cache */
    __asm__ volatile("msr sctlr_el1, %0\n\tisb" ::"r"(sctlr) : "memory");
}
