/* SPDX-License-Identifier: Apache-2.0
 * Calls each function of nopscope.h once. It must return what an image without the tracer returns.
 */
#include "tests/shipping/every.h"

#include <nopscope/nopscope.h>

NOPSCOPE_NOTRACE static void seen(uint64_t ip, uint64_t parent_ip, struct nopscope_ops* ops,
                                  struct nopscope_regs* regs) {
    (void)ip;
    (void)parent_ip;
    (void)regs;
    ++*(uint64_t*)ops->user;
}

static bool try_write(uint8_t byte) { return byte != 0; }
static void drain(void) {}

int main(void) {
    static uint64_t count;
    static struct nopscope_ops ops = {.func = seen, .user = &count};
    static char memory[4096];
    static const uint16_t events[] = {3, 16};
    static const struct nopscope_config config = {.image = "nopscope: every.c",
                                                  .try_write = try_write,
                                                  .drain = drain,
                                                  .profile_memory = memory,
                                                  .profile_memory_bytes = sizeof memory};
    const struct nopscope_sites all = nopscope_all();
    const struct nopscope_interruption at = {0, 0, 0};
    uint32_t index = 7;
    (void)ops, (void)events, (void)config, (void)all, (void)at, (void)index;

    EXPECT(nopscope_init(&config) == NOPSCOPE_OK);
    EXPECT(nopscope_describe(NOPSCOPE_OK)[0] == 0);
    EXPECT(nopscope_join(0, 1) == NOPSCOPE_OK);
    EXPECT(nopscope_enable(NOPSCOPE_GRAPH, nopscope_named("*")) == NOPSCOPE_OK);
    EXPECT(nopscope_disable(nopscope_range(0, 1)) == NOPSCOPE_OK);
    EXPECT(nopscope_attach(&ops, all) == NOPSCOPE_OK);
    EXPECT(nopscope_detach(&ops, all) == NOPSCOPE_OK);
    EXPECT(nopscope_set_filter(&ops, nopscope_functions(0, 0)) == NOPSCOPE_OK);
    EXPECT(nopscope_synchronize());
    EXPECT(!nopscope_lookup((uintptr_t)try_write, &index) && index == 7);
    CALL(nopscope_stop();)
    CALL(nopscope_start();)
    CALL(nopscope_pump();)
    CALL(nopscope_set_min_duration(1);)
    CALL(nopscope_set_max_depth(1);)
    CALL(nopscope_set_sample(1);)
    EXPECT(nopscope_trace_only_below(all) == NOPSCOPE_OK);
    EXPECT(nopscope_trace_everywhere() == NOPSCOPE_OK);
    EXPECT(nopscope_profile_bytes(1) == 0);
    CALL(nopscope_send_profile();)
    CALL(nopscope_finish();)
    CALL(nopscope_console_write("nopscope", 8);)
    CALL(nopscope_enter_panic();)
    CALL(nopscope_mark(1);)
    CALL(nopscope_counter(1, -1);)
    EXPECT(nopscope_capture_arguments(all, 1) == NOPSCOPE_OK);
    EXPECT(nopscope_capture_result(all) == NOPSCOPE_OK);
    EXPECT(nopscope_capture_nothing(all) == NOPSCOPE_OK);
    EXPECT(nopscope_count_events(events, 2) == NOPSCOPE_OK);
    EXPECT(nopscope_events_refusal()[0] == 0);
    CALL(nopscope_sample(&at);)
    EXPECT(nopscope_interrupt_begin(1) == 0);
    CALL(nopscope_interrupt_end(0);)
    CALL(nopscope_interrupts_masked(0);)
    CALL(nopscope_interrupts_unmasked();)
    EXPECT(nopscope_counters().sites == 0 && nopscope_counters().generated == 0);
    EXPECT(nopscope_last_error().address == 0);
    return 0;
}
