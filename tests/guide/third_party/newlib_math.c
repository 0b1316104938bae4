/* SPDX-License-Identifier: Apache-2.0
 * newlib's test of its mathematics, with Arm's start-up (libgloss), which leaves the MMU off. It
 * calls a board's _cpu_init_hook() with a stack, before it clears .bss. */
#include "traced_main.h"

static uint64_t level1[512] __attribute__((aligned(4096), section(".data")));

void _cpu_init_hook(void) {
    const uint64_t block = 1, device = 1 << 2, inner_shareable = 3 << 8, accessed = 1 << 10;
    const uint64_t ram = 0x40000000, no_execute = UINT64_C(3) << 53;
    level1[0] = no_execute | accessed | device | block;
    level1[1] =
        ram | accessed | inner_shareable | block; /* writable and executable: no alias is needed */

    const uint64_t mair = 0x00ff; /* write-back, device */
    const uint64_t tcr = 25 | 1 << 8 | 1 << 10 | 3 << 12 | UINT64_C(1) << 23 | UINT64_C(2) << 32;
    const uint64_t floating_point = 3 << 20;
    __asm__ volatile(
        "msr cpacr_el1, %3\n\tmsr mair_el1, %0\n\tmsr tcr_el1, %1\n\tmsr ttbr0_el1, %2\n\tisb\n\t"
        "tlbi vmalle1\n\tdsb ish\n\tic iallu\n\tdsb ish\n\tisb" ::"r"(mair),
        "r"(tcr), "r"(level1), "r"(floating_point)
        : "memory");
    uint64_t sctlr;
    __asm__ volatile("mrs %0, sctlr_el1" : "=r"(sctlr));
    sctlr |= 1 << 0 | 1 << 2 | 1 << 12; /* MMU, data cache, instruction cache */
    __asm__ volatile("msr sctlr_el1, %0\n\tisb" ::"r"(sctlr) : "memory");
}

bool make_ready(const struct nopscope_config* config) { return (void)config, true; }

/* Constructors, which this newlib lacks, and a test of functions that it lacks for arm64. */
void _init(void) {}
void _fini(void) {}
void test_ieee(void) {}
