/* SPDX-License-Identifier: Apache-2.0
 * What it takes to profile QEMU's bare-metal memory test (tests/tcg), which has its own start-up, page tables and
 * linker script and is not changed: main is wrapped (--wrap=main), and two lines of its tables completed. */
#include <tracer/nopscope.h>

static volatile uint32_t* const uart = (volatile uint32_t*)0x09000000;

static bool try_write(uint8_t byte) {
    const uint32_t full = 1 << 5;
    if (uart[0x18 / 4] & full) return false;
    uart[0] = byte;
    return true;
}
static void drain(void) {}

/* It maps no device, and its memory as not shareable; nopscope_init() says that it refuses the latter. */
static void complete_tables(bool shareable) {
    const uint64_t address = UINT64_C(0xfffffffff000), accessed = 1 << 10, block = 1, no_execute = UINT64_C(3) << 53;
    const uint64_t device = 1 << 2, inner_shareable = 3 << 8;
    uint64_t ttbr, mair;
    __asm__ volatile("mrs %0, ttbr0_el1\n\tmrs %1, mair_el1" : "=r"(ttbr), "=r"(mair));
    uint64_t* const level1 = (uint64_t*)(ttbr & address);
    uint64_t* const level2 = (uint64_t*)(level1[1] & address);
    level1[0] = no_execute | accessed | device | block;
    for (unsigned i = 0; shareable && i < 512; ++i) {
        if (level2[i] & block) level2[i] |= inner_shareable;
    }
    __asm__ volatile("msr mair_el1, %0\n\tdsb ish\n\ttlbi vmalle1\n\tdsb ish\n\tisb" ::"r"(mair & ~UINT64_C(0xff00))
                     : "memory");
}

int __real_main(void);
int __wrap_main(void) {
    static struct nopscope_config config = {
        .image = "qemu-memory",
        .try_write = try_write,
        .drain = drain,
        .lossless = true,
        .recorder = NOPSCOPE_GRAPH,
        .trace = {0, UINT32_MAX, 0, 0, 0},
    };
    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(config.clock_hz));
    complete_tables(false);
    if (nopscope_init(&config) != NOPSCOPE_WRONG_MEMORY) return 2;
    complete_tables(true);
    if (nopscope_init(&config) != NOPSCOPE_OK) return 3;
    const int status = __real_main();
    nopscope_finish();
    return status;
}
