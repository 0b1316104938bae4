/* SPDX-License-Identifier: Apache-2.0
 * A profiled firmware in C with its own start-up, linker script, page tables and UART. nopscope
 * needs only start_tracing() and the last line. */
#include "mmu.h"
#include "uart.h"

#include <nopscope/nopscope.h>

static uint64_t clock_hz(void) {
    uint64_t hz;
    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hz));
    return hz;
}

static void start_tracing(void) {
    static const struct nopscope_machine machine = {.text_alias = TEXT_ALIAS};
    static struct nopscope_config config = {
        .image = "foreign",
        .machine = &machine,
        .try_write = uart_try_write,
        .drain = uart_drain,
        .mode = NOPSCOPE_LOSSLESS,
        .recorder = NOPSCOPE_GRAPH,
    };
    config.clock_hz = clock_hz();
    const enum nopscope_status status = nopscope_init(&config);
    if (status == NOPSCOPE_OK) return;
    for (const char* c = nopscope_describe(status); *c != 0;) {
        if (uart_try_write((uint8_t)*c)) ++c;
    }
}

/* ---- the firmware itself ---- */

/* The calls stay as they are written. */
#ifdef __clang__
#define AS_WRITTEN __attribute__((noinline))
#else
#define AS_WRITTEN __attribute__((noipa))
#endif

AS_WRITTEN unsigned fibonacci(unsigned n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
AS_WRITTEN unsigned next(unsigned n) { return n % 2 == 0 ? n / 2 : 3 * n + 1; }
AS_WRITTEN unsigned steps_to_one(unsigned n) {
    unsigned steps = 0;
    for (; n != 1; n = next(n)) ++steps;
    return steps;
}
__attribute__((cold)) AS_WRITTEN void say(bool right) {
    nopscope_console_write(right ? "right\n" : "wrong\n", 6);
}

int main(void) {
    start_tracing();
    say(fibonacci(15) == 610 && steps_to_one(27) == 111);
    nopscope_finish();
    return 0;
}
