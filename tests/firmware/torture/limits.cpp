// SPDX-License-Identifier: Apache-2.0
// limits.elf: calls that the recorders must refuse, because the ring is full, recording is stopped,
// the shadow stack is full, or the stack is not the context's. Such a call must run as if it were
// not traced, and be counted. All registers are checked. Not instrumented. Exit status 0: passed.
#include "tests/firmware/torture/sweep.hpp"

#include <stdio.h>
#include <initializer_list>

namespace torture {

namespace {

constexpr uint64_t own_stack = 128 * 1024;  // of the HAL's stack; the rest counts as foreign
constexpr unsigned frames = 512;            // on the shadow stack
constexpr unsigned too_deep = 2 * frames;

uint64_t round_number;
uint64_t from_sp;

void check_all() {
    void (*const functions[])() = {torture_landing, torture_tail, torture_nested, torture_leaping};
    for (unsigned n = 0; n < 16; ++n) {
        const char* wrong = check_registers(functions[n % 4], ++round_number, from_sp + 16 * n);
        if (wrong != nullptr) complain("%s", wrong);
    }
}

// How much check_all() increased the counter.
template <typename Counter>
uint64_t moved(Counter counter) {
    const uint64_t before = nopscope::counters().*counter;
    check_all();
    return nopscope::counters().*counter - before;
}

void when_stopped(Recorder recorder) {
    must(nopscope::enable(recorder, Sites::all()));
    nopscope::stop();
    const uint64_t before = nopscope::counters().generated;
    check_all();
    TORTURE_EXPECT(nopscope::counters().generated == before);
    TORTURE_EXPECT(nopscope::counters().filtered == 0);
    nopscope::start();
}

void when_full(Recorder recorder) {
    must(nopscope::enable(recorder, Sites::all()));
    for (unsigned n = 0; n < 10000 && moved(&nopscope::Counters::dropped) == 0; ++n) {
    }
    TORTURE_EXPECT(moved(&nopscope::Counters::dropped) > 0);
    TORTURE_EXPECT(nopscope::hooked_return_address(0) == 0);
    while (moved(&nopscope::Counters::dropped) > 0) nopscope::pump();
}

void when_too_deep() {
    must(nopscope::enable(Recorder::graph, Sites::all()));
    const uint64_t before = nopscope::counters().shadow_stack_full;
    TORTURE_EXPECT(deep(too_deep, check_all) == too_deep);
    TORTURE_EXPECT(nopscope::counters().shadow_stack_full >= before + too_deep - frames);
    // The limit at each position of the checked calls.
    for (unsigned depth = frames - 6; depth < frames + 2; ++depth)
        TORTURE_EXPECT(deep(depth, check_all) == depth);
    TORTURE_EXPECT(nopscope::hooked_return_address(0) == 0);
}

void when_foreign(Recorder recorder) {
    must(nopscope::enable(recorder, Sites::all()));
    from_sp = own_stack;
    TORTURE_EXPECT(moved(&nopscope::Counters::off_stack) >= 16);
    from_sp = 0;
    TORTURE_EXPECT(nopscope::hooked_return_address(0) == 0);
}

int run() {
    nopscope::Config config = board_config("limits");
    config.stack_low = config.stack_high - own_stack;
    config.mode = nopscope::Mode::stream;
    config.profile_memory = image::profile_memory(1);
    image::start_tracer(config);
    TORTURE_EXPECT(hal::stack_bounds().high - hal::stack_bounds().low >= own_stack + 64 * 1024);

    // This image has no name table.
    TORTURE_EXPECT(nopscope::enable(Recorder::graph, Sites::named("*")) ==
                   nopscope::Status::no_names);
    TORTURE_EXPECT(nopscope::site_name(0, nullptr, 0) == 0);

    for (const Recorder recorder :
         {Recorder::function, Recorder::graph, Recorder::duration, Recorder::sampled}) {
        when_stopped(recorder);
        if (recorder == Recorder::function || recorder == Recorder::graph) when_full(recorder);
    }
    when_too_deep();
    for (const Recorder recorder : {Recorder::graph, Recorder::profile}) when_foreign(recorder);

    must(nopscope::disable(Sites::all()));
    const nopscope::Counters counters = nopscope::counters();
    printf("limits: dropped %lu, shadow_stack_full %lu, off_stack %lu\n", counters.dropped,
           counters.shadow_stack_full, counters.off_stack);
    return end("limits");
}

}  // namespace

}  // namespace torture

int main() { nopscope::hal::exit(torture::run()); }
