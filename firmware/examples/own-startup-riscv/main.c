/* SPDX-License-Identifier: Apache-2.0
 * A profiled RISC-V firmware in C with its own start-up, linker script and UART. nopscope needs
 * only start_tracing() and the last line. */
#include <nopscope/nopscope.h>

/* A 16550 that is already set up. The tracer calls these two, so they have no patch sites. */
static volatile uint8_t* const uart = (volatile uint8_t*)0x10000000;
enum { DATA = 0, STATUS = 5, HAS_ROOM = 1 << 5, IDLE = 1 << 6 };
NOPSCOPE_NOTRACE static bool uart_try_write(uint8_t byte) {
    if ((uart[STATUS] & HAS_ROOM) == 0) return false;
    uart[DATA] = byte;
    return true;
}
NOPSCOPE_NOTRACE static void uart_drain(void) {
    while ((uart[STATUS] & IDLE) == 0) continue;
}

extern char stack_low[], stack_end[]; /* foreign.ld */

NOPSCOPE_NOTRACE static void start_tracing(void) {
    static struct nopscope_config config = {
        .image = "foreign",
        .try_write = uart_try_write,
        .drain = uart_drain,
        .clock_hz = 10000000, /* of `time`, on virt */
        .mode = NOPSCOPE_LOSSLESS,
        .recorder = NOPSCOPE_GRAPH,
    };
    config.stack_low = (uint64_t)stack_low;
    config.stack_high = (uint64_t)stack_end;
    const enum nopscope_status status = nopscope_init(&config);
    if (status == NOPSCOPE_OK) return;
    for (const char* c = nopscope_describe(status); *c != 0;) {
        if (uart_try_write((uint8_t)*c)) ++c;
    }
}

/* ---- the firmware itself ---- */

/* The calls stay as they are written. */
#define AS_WRITTEN __attribute__((noipa))

AS_WRITTEN unsigned fibonacci(unsigned n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
AS_WRITTEN unsigned next(unsigned n) { return n % 2 == 0 ? n / 2 : 3 * n + 1; }
AS_WRITTEN unsigned steps_to_one(unsigned n) {
    unsigned steps = 0;
    for (; n != 1; n = next(n)) ++steps;
    return steps;
}

NOPSCOPE_NOTRACE int main(void) {
    start_tracing();
    const bool right = fibonacci(15) == 610 && steps_to_one(27) == 111;
    nopscope_console_write(right ? "right\n" : "wrong\n", 6);
    nopscope_finish();
    return 0;
}
