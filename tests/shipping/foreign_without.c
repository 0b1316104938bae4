/* SPDX-License-Identifier: Apache-2.0
 * firmware/examples/own-startup/main.c without nopscope. It still reads the clock's rate. */
#include <stdbool.h>
#include <stdint.h>

__attribute__((noipa)) unsigned fibonacci(unsigned n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
__attribute__((noipa)) unsigned next(unsigned n) { return n % 2 == 0 ? n / 2 : 3 * n + 1; }
__attribute__((noipa)) unsigned steps_to_one(unsigned n) {
    unsigned steps = 0;
    for (; n != 1; n = next(n)) ++steps;
    return steps;
}
__attribute__((cold, noipa)) void say(bool right) { (void)right; }

int main(void) {
    uint64_t clock_hz;
    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(clock_hz));
    say(fibonacci(15) == 610 && steps_to_one(27) == 111);
    return 0;
}
