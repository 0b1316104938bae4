/* SPDX-License-Identifier: Apache-2.0
 * Calls each function of the C headers once. It must return what an image without the tracer does.
 */
#include "tests/shipping/every.h"

#include <nopscope/nopscope.h>

/* No file has these: an image with something of nopscope would not link. */
void seen(uint64_t ip, uint64_t parent_ip, struct nopscope_ops* ops, struct nopscope_regs* regs);
bool began(uint64_t ip, uint64_t parent_ip, struct nopscope_return_ops* ops,
           struct nopscope_regs* regs, struct nopscope_call_data* data);
void ended(uint64_t ip, uint64_t return_address, struct nopscope_return_ops* ops,
           struct nopscope_return_regs* regs, struct nopscope_call_data* data);
void visit(struct nopscope_ops* ops, void* user);
bool try_write(uint8_t byte);
void drain(void);

int main(void) {
    static uint64_t count;
    static struct nopscope_ops ops = {.func = seen, .user = &count};
    static struct nopscope_return_ops returns = NOPSCOPE_RETURN_OPS(began, ended, &count);
    static struct nopscope_trigger trigger = NOPSCOPE_TRIGGER(NOPSCOPE_ACTION_SNAPSHOT, 3, 1);
    static struct nopscope_context task;
    static struct nopscope_context_frame frames[4];
    static struct nopscope_site_profile profile;
    static struct nopscope_site_events counted;
    static char memory[4096];
    static const uint16_t events[] = {3, 16};
    static const struct nopscope_config config = {.image = "nopscope: every.c",
                                                  .try_write = try_write,
                                                  .drain = drain,
                                                  .mode = NOPSCOPE_FLIGHT,
                                                  .profile_memory = memory,
                                                  .profile_memory_bytes = sizeof memory};
    const struct nopscope_sites all = nopscope_all();
    const struct nopscope_interruption at = {0, 0, 0};
    uint32_t index = 7;
    (void)ops, (void)events, (void)config, (void)all, (void)at, (void)index;
    (void)returns, (void)trigger, (void)task, (void)frames, (void)profile, (void)counted;

    EXPECT(nopscope_init(&config) == NOPSCOPE_OK);
    EXPECT(nopscope_carried_out(nopscope_join(0, 1)));
    EXPECT(nopscope_enable(NOPSCOPE_GRAPH, nopscope_named("*")) == NOPSCOPE_OK);
    EXPECT(nopscope_disable(nopscope_without(nopscope_range(0, 1), &all)) == NOPSCOPE_OK);
    EXPECT(nopscope_attach(&ops, all) == NOPSCOPE_OK);
    EXPECT(nopscope_attach(&trigger.ops, all) == NOPSCOPE_OK);
    EXPECT(nopscope_detach(&returns.ops, all) == NOPSCOPE_OK);
    EXPECT(nopscope_set_filter(&ops, nopscope_functions(0, 0)) == NOPSCOPE_OK);
    EXPECT(!nopscope_lookup((uintptr_t)try_write, &index) && index == 7);
    CALL(nopscope_for_each_ops(0, visit, NULL);)
    EXPECT(nopscope_set_mode(NOPSCOPE_ADAPTIVE) == NOPSCOPE_OK);
    EXPECT(!nopscope_read_profile(0, 0, &profile));

    EXPECT(nopscope_context_create(&task, frames, 4, 0, 1, NULL) == NOPSCOPE_OK);
    EXPECT(nopscope_context_switch(nopscope_main_context(), NOPSCOPE_SWITCH_REASON_BLOCKED) ==
           NOPSCOPE_OK);
    CALL(nopscope_context_describe(&task, NULL);)
    CALL(nopscope_context_event(NOPSCOPE_CONTEXT_EVENT_READY, 1);)
    EXPECT(nopscope_context_destroy(&task) == NOPSCOPE_OK);

    EXPECT(nopscope_count_events(events, 2) == NOPSCOPE_OK);
    EXPECT(nopscope_events_refusal().why == NOPSCOPE_EVENT_REFUSAL_NONE);
    EXPECT(nopscope_describe_event_refusal(NOPSCOPE_EVENT_REFUSAL_NONE)[0] == 0);
    EXPECT(!nopscope_read_profile_events(0, 0, &counted));

    CALL(nopscope_sample(&at);)

    CALL(nopscope_count_down(0, 0, &trigger.ops, NULL);)
    CALL(nopscope_hook_call(0, 0, &returns.ops, NULL);)

#define N(name) nopscope_##name
#define OK NOPSCOPE_OK
#define ALL all
#include "tests/shipping/alike.h"
    return 0;
}
