/* SPDX-License-Identifier: Apache-2.0
 * QEMU's bare-metal memory test (tests/tcg) has its own start-up, page tables and linker script.
 * Its tables map no device. They map its memory as not shareable, which nopscope_init() refuses. */
#include "traced_main.h"

static void complete_tables(bool shareable) {
    const uint64_t address = UINT64_C(0xfffffffff000), accessed = 1 << 10, block = 1,
                   no_execute = UINT64_C(3) << 53;
    const uint64_t device = 1 << 2, inner_shareable = 3 << 8;
    uint64_t ttbr, mair;
    __asm__ volatile("mrs %0, ttbr0_el1\n\tmrs %1, mair_el1" : "=r"(ttbr), "=r"(mair));
    uint64_t* const level1 = (uint64_t*)(ttbr & address);
    uint64_t* const level2 = (uint64_t*)(level1[1] & address);
    level1[0] = no_execute | accessed | device | block;
    for (unsigned i = 0; shareable && i < 512; ++i) {
        if (level2[i] & block) level2[i] |= inner_shareable;
    }
    __asm__ volatile("msr mair_el1, %0\n\tdsb ish\n\ttlbi vmalle1\n\tdsb ish\n\tisb" ::"r"(
                         mair & ~UINT64_C(0xff00))
                     : "memory");
}

bool make_ready(const struct nopscope_config* config) {
    complete_tables(false);
    if (nopscope_init(config) != NOPSCOPE_WRONG_MEMORY) return false;
    complete_tables(true);
    return true;
}
