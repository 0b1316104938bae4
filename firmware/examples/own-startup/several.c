/* SPDX-License-Identifier: Apache-2.0
 * Like main.c on four cores. Each core traces its own work, while core 0 changes what is traced. */
#include "cores.h"
#include "mmu.h"
#include "uart.h"

#include <nopscope/nopscope.h>

#include <stdatomic.h>

static _Atomic unsigned joined, finished, wrong;

static bool start_tracing(void) {
    static const struct nopscope_machine machine = {
        .text_alias = TEXT_ALIAS,
        .online_cores = cores_online,
        .run_on_other_cores = cores_call,
        .core = core_number,
    };
    static struct nopscope_config config = {
        .image = "several",
        .machine = &machine,
        .cores = CORES,
        .try_write = uart_try_write,
        .drain = uart_drain,
        .mode = NOPSCOPE_LOSSLESS,
        .recorder = NOPSCOPE_GRAPH,
    };
    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(config.clock_hz));
    return nopscope_init(&config) == NOPSCOPE_OK;
}

/* ---- the firmware itself ---- */

__attribute__((noipa)) unsigned fibonacci(unsigned n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
__attribute__((noipa)) void work(unsigned core) {
    static const unsigned results[CORES] = {55, 89, 144, 233};
    if (fibonacci(10 + core) != results[core]) ++wrong;
}
/* Each runs once, while all functions are traced. */
__attribute__((noipa)) static void on_core_0(void) { work(0); }
__attribute__((noipa)) static void on_core_1(void) { work(1); }
__attribute__((noipa)) static void on_core_2(void) { work(2); }
__attribute__((noipa)) static void on_core_3(void) { work(3); }
static void (*const on_core[CORES])(void) = {on_core_0, on_core_1, on_core_2, on_core_3};

NOPSCOPE_NOTRACE static void other_core(unsigned core) {
    const uint64_t stack = (uint64_t)stacks[core];
    if (nopscope_join(stack, stack + STACK_BYTES) != NOPSCOPE_OK) ++wrong;
    on_core[core]();
    ++joined;
    for (unsigned i = 0; i < 50; ++i) work(core);
    ++finished;
}

NOPSCOPE_NOTRACE int main(void) {
    cores_prepare();
    if (!start_tracing()) return 1;
    for (unsigned core = 1; core < CORES; ++core) {
        if (!core_start(core, other_core)) ++wrong;
    }
    on_core[0]();
    while (joined < CORES - 1) nopscope_pump();

    for (unsigned i = 0; i < 20; ++i) {
        const bool on = i % 2 != 0;
        const enum nopscope_status status =
            on ? nopscope_enable(NOPSCOPE_GRAPH, nopscope_all()) : nopscope_disable(nopscope_all());
        if (status != NOPSCOPE_OK || !nopscope_synchronize()) ++wrong;
        work(0);
        nopscope_pump();
    }
    while (finished < CORES - 1) nopscope_pump();
    nopscope_console_write(wrong == 0 ? "right\n" : "wrong\n", 6);
    nopscope_finish();
    return 0;
}
