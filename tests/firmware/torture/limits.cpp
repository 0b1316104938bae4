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

void expect(bool condition, const char* what) {
    if (!condition) complain("%s", what);
}

void check_all() {
    void (*const functions[])() = {torture_landing, torture_tail, torture_nested, torture_leaping};
    for (unsigned n = 0; n < 16; ++n) {
        const char* wrong = check_registers(functions[n % 4], ++round_number, from_sp + 16 * n);
        expect(wrong == nullptr, wrong);
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
    expect(nopscope::counters().generated == before, "recorded while stopped");
    expect(nopscope::counters().filtered == 0, "filtered while stopped");
    nopscope::start();
}

void when_full(Recorder recorder) {
    must(nopscope::enable(recorder, Sites::all()));
    for (unsigned n = 0; n < 10000 && moved(&nopscope::Counters::dropped) == 0; ++n) {
    }
    expect(moved(&nopscope::Counters::dropped) > 0, "a full ring dropped nothing");
    expect(nopscope::hooked_return_address(0) == 0, "a call is still open");
    while (moved(&nopscope::Counters::dropped) > 0) nopscope::pump();
}

void when_too_deep() {
    must(nopscope::enable(Recorder::graph, Sites::all()));
    const uint64_t before = nopscope::counters().shadow_stack_full;
    expect(deep(too_deep, check_all) == too_deep, "a deep call returned something else");
    expect(nopscope::counters().shadow_stack_full >= before + too_deep - frames,
           "an overflow was not counted");
    // The limit at each position of the checked calls.
    for (unsigned depth = frames - 6; depth < frames + 2; ++depth) {
        expect(deep(depth, check_all) == depth, "a call at the limit returned something else");
    }
    expect(nopscope::hooked_return_address(0) == 0, "a call is still open");
}

void when_foreign(Recorder recorder) {
    must(nopscope::enable(recorder, Sites::all()));
    from_sp = own_stack;
    expect(moved(&nopscope::Counters::off_stack) >= 16, "another stack was not counted");
    from_sp = 0;
    expect(nopscope::hooked_return_address(0) == 0, "a call is still open");
}

int run() {
    nopscope::Config config = board_config("limits");
    config.stack_low = config.stack_high - own_stack;
    config.mode = nopscope::Mode::stream;
    config.profile_memory = image::profile_memory(1);
    image::start_tracer(config);
    const auto stack = hal::stack_bounds();
    if (stack.high - stack.low < own_stack + 64 * 1024)
        hal::panic("limits: the stack is too small");

    // This image has no name table.
    expect(nopscope::enable(Recorder::graph, Sites::named("*")) == nopscope::Status::no_names,
           "names without a table");
    expect(nopscope::site_name(0, nullptr, 0) == 0, "a name without a table");

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
