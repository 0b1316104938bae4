/* SPDX-License-Identifier: Apache-2.0
 * nopscope_init() while another core runs instrumented code: it reports that and writes nothing. */
#include "cores.h"
#include "mmu.h"
#include "uart.h"

#include <nopscope/nopscope.h>

#include <stdatomic.h>

static _Atomic unsigned calls;

__attribute__((noipa)) void count(void) { ++calls; }
NOPSCOPE_NOTRACE static void other_core(unsigned core) {
    (void)core;
    for (;;) count();
}

NOPSCOPE_NOTRACE static void print(const char* text) {
    while (*text != 0) {
        if (uart_try_write((uint8_t)*text)) ++text;
    }
}

NOPSCOPE_NOTRACE int main(void) {
    static const struct nopscope_machine machine = {.text_alias = TEXT_ALIAS,
                                                    .online_cores = cores_online,
                                                    .run_on_other_cores = cores_call,
                                                    .core = core_number};
    static const struct nopscope_config config = {.image = "running",
                                                  .machine = &machine,
                                                  .cores = CORES,
                                                  .clock_hz = 1000000000,
                                                  .try_write = uart_try_write,
                                                  .drain = uart_drain,
                                                  .uncalibrated = true};

    cores_prepare();
    if (!core_start(1, other_core)) return 1;
    while (calls == 0) continue;
    const uint32_t* const word = (const uint32_t*)(uint64_t)count;
    const uint32_t before[] = {word[0], word[1], word[2]};
    print(nopscope_describe(nopscope_init(&config)));
    const bool same = word[0] == before[0] && word[1] == before[1] && word[2] == before[2];
    print(same ? "\nthe text is as it was\n" : "\nthe text is another\n");
    return 0;
}
