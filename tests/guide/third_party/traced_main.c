/* SPDX-License-Identifier: Apache-2.0
 * Profiles an unmodified program by wrapping its main (--wrap=main). The tracer's line is QEMU
 * virt's PL011. None of these programs uses it: they print by semihosting. */
#include "traced_main.h"

static volatile uint32_t* const uart = (volatile uint32_t*)0x09000000;

static bool try_write(uint8_t byte) {
    const uint32_t full = 1 << 5;
    if (uart[0x18 / 4] & full) return false;
    uart[0] = byte;
    return true;
}
static void drain(void) {}

int __real_main(int argc, char** argv);
int __wrap_main(int argc, char** argv) {
    static struct nopscope_config config = {
        .image = "third-party",
        .try_write = try_write,
        .drain = drain,
        .mode = NOPSCOPE_LOSSLESS,
        .recorder = NOPSCOPE_GRAPH,
    };
    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(config.clock_hz));
    if (!make_ready(&config)) return 2;
    if (nopscope_init(&config) != NOPSCOPE_OK) return 3;
    const int status = __real_main(argc, argv);
    nopscope_disable(nopscope_all()); /* start-up continues after main */
    nopscope_finish();
    return status;
}
