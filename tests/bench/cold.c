/* SPDX-License-Identifier: Apache-2.0
 * Functions that may lose their site (alignment.py): cold and hot ones, one that never returns, one
 * that runs before main, unused ones, and sizes that are not a multiple of 8. */
volatile int sink;

void used_first(int n) { sink = n; }
__attribute__((cold)) void used_cold(int n) { sink = n + 1; }
__attribute__((cold)) int used_cold_sum(int a, int b) { return a * b + sink; }
__attribute__((hot)) int used_hot(int a) { return a + sink; }
__attribute__((noreturn)) void used_noreturn(void) {
    for (;;) sink = 1;
}
__attribute__((constructor)) static void at_start(void) { sink = 2; }
static __attribute__((noinline)) int used_local(int a) { return a - sink; }
int used_caller(int a) { return used_local(a) + used_local(a + 1); }
void unused(void) { sink = 3; }
__attribute__((cold)) void unused_cold(void) { sink = 4; }

void bench_entry(void) {
    used_first(1);
    used_cold(used_cold_sum(1, used_hot(2)));
    if (used_caller(3)) used_noreturn();
}
