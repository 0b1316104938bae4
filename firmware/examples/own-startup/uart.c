/* SPDX-License-Identifier: Apache-2.0
 * A PL011 that the boot firmware has set up. The tracer calls this, so it has no patch sites. */
#include "uart.h"

static volatile uint32_t* const uart = (volatile uint32_t*)0x09000000;
enum { DATA = 0x00 / 4, FLAGS = 0x18 / 4, FULL = 1 << 5, BUSY = 1 << 3 };

bool uart_try_write(uint8_t byte) {
    if (uart[FLAGS] & FULL) return false;
    uart[DATA] = byte;
    return true;
}

void uart_drain(void) {
    while (uart[FLAGS] & BUSY) continue;
}
