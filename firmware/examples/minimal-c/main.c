// SPDX-License-Identifier: Apache-2.0
// A firmware in C that traces itself: first with its own callback, then with the graph recorder.
#include "firmware/examples/minimal-c/board.h"
#include "nopscope/nopscope.h"

#include <stdio.h>

__attribute__((noipa)) int twice(int n) { return 2 * n; }
__attribute__((noipa)) int thrice(int n) { return twice(n) + n; }

struct seen {
    unsigned calls;
    uint64_t last_argument;
};

NOPSCOPE_NOTRACE static void see(uint64_t ip, uint64_t parent_ip, struct nopscope_ops* ops,
                                 struct nopscope_regs* regs) {
    struct seen* seen = ops->user;
    ++seen->calls;
    seen->last_argument = regs->x[0];
    if (ip != (uintptr_t)twice || parent_ip != regs->lr) seen->last_argument = UINT64_MAX;
}

static int failures;
static void expect(bool holds, const char* what) {
    if (holds) return;
    ++failures;
    printf("minimal-c: not so: %s\n", what);
}
#define EXPECT(condition) expect(condition, #condition)

static struct seen seen;
static struct nopscope_ops seeing = {.func = see, .user = &seen};

static void trace_by_callback(void) {
    const void* const list[] = {(const void*)twice};
    const struct nopscope_sites only_twice = nopscope_functions(list, 1);
    EXPECT(nopscope_attach(&seeing, only_twice) == NOPSCOPE_OK && seeing.sites == 1);
    EXPECT(twice(21) == 42 && seen.calls == 1 && seen.last_argument == 21);
    uint32_t index = 0;
    EXPECT(nopscope_lookup((uintptr_t)twice, &index) &&
           !nopscope_lookup((uintptr_t)twice + 4, &index));
    EXPECT(nopscope_set_filter(&seeing, nopscope_range(index, 1)) == NOPSCOPE_OK &&
           seeing.sites == 1);
    EXPECT(twice(4) == 8 && seen.calls == 2 && nopscope_counters().enabled == 1);
    EXPECT(nopscope_detach(&seeing, nopscope_all()) == NOPSCOPE_OK && nopscope_synchronize());
    EXPECT(twice(5) == 10 && seen.calls == 2 && nopscope_counters().enabled == 0);
}

static void refuse(void) {
    const void* const list[] = {(const void*)((uintptr_t)twice + 4)};
    EXPECT(nopscope_attach(&seeing, nopscope_functions(list, 1)) == NOPSCOPE_UNKNOWN_FUNCTION);
    EXPECT(nopscope_attach(&seeing, nopscope_named("twice")) == NOPSCOPE_NO_NAMES);
    struct nopscope_ops nothing = {.func = NULL};
    EXPECT(nopscope_attach(&nothing, nopscope_all()) == NOPSCOPE_BAD_CONFIG);
    EXPECT(nopscope_last_error().address == 0);
}

int main(void) {
    const struct nopscope_config config = {
        .image = "minimal-c",
        .board = board_name(),
        .clock_hz = board_clock_hz(),
        .try_write = board_try_write,
        .drain = board_drain,
        .line_bytes_per_second = board_baud() / 10,
        .stack_low = board_stack_low(),
        .stack_high = board_stack_high(),
        .mode = NOPSCOPE_LOSSLESS,
        .panic = board_panic,
    };
    const enum nopscope_status status = nopscope_init(&config);
    if (status != NOPSCOPE_OK) board_panic(nopscope_describe(status));
    board_frame_console();

    trace_by_callback();
    refuse();

    const void* const list[] = {(const void*)twice, (const void*)thrice};
    EXPECT(nopscope_enable(NOPSCOPE_GRAPH, nopscope_functions(list, 2)) == NOPSCOPE_OK);
    for (int n = 0; n < 1000; ++n) EXPECT(thrice(n) == 3 * n);
    nopscope_stop();
    EXPECT(twice(3) == 6);  // not recorded
    nopscope_start();
    EXPECT(twice(4) == 8);
    EXPECT(nopscope_disable(nopscope_all()) == NOPSCOPE_OK && nopscope_counters().dropped == 0);

    printf("minimal-c: %d failures\n", failures);
    fflush(stdout);
    nopscope_finish();
    return failures != 0;
}
