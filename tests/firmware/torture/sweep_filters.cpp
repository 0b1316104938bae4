// SPDX-License-Identifier: Apache-2.0
// The recorders that leave calls out: duration, sampled, and graph with a depth limit. After each
// run each call, also the interrupt's, must have made its records or be counted as filtered. The
// line's bytes are dropped; the console is raw on the UART.
#include "tests/firmware/torture/sweep.hpp"

namespace torture {
namespace {

Path paths[] = {SWEEP_PATH(duration_entry), SWEEP_PATH(duration_hook), SWEEP_PATH(sampled_entry)};

struct Way {
    const char* name;
    Recorder recorder;
    unsigned records;  // that a call makes
    uint64_t min_duration;
    uint32_t sample;
    uint32_t max_depth;
};
constexpr uint64_t never = ~uint64_t{0};
constexpr Way ways[] = {
    {"duration", Recorder::duration, 3, 0, 1, 0},
    {"duration, all too short", Recorder::duration, 3, never, 1, 0},
    {"duration, some too short", Recorder::duration, 3, 40, 1, 0},
    {"sampled, each", Recorder::sampled, 2, 0, 1, 0},
    {"sampled, each third", Recorder::sampled, 2, 0, 3, 0},
    {"graph, three deep", Recorder::graph, 2, 0, 1, 3},
    {"duration, two deep", Recorder::duration, 3, 0, 1, 2},
};
const Way* way;
nopscope::Counters before;

uint64_t records(const nopscope::Counters& counters) {
    return counters.generated - counters.dropped - counters.filtered;
}

void start() {
    nopscope::pump();
    nopscope::set_sample(way->sample);
    before = nopscope::counters();
}

const char* finish(const Run& run) {
    // Some of these are hooked; they end the calls that a longjmp left open.
    constexpr unsigned last_calls = 3;
    for (unsigned n = 0; n < last_calls; ++n) torture_landing();
    const uint64_t calls = run_calls + (run.abandoned ? abandoned_calls : 0) + run.callee.calls +
                           interrupt_calls + task_calls + last_calls;
    const nopscope::Counters after = nopscope::counters();
    const uint64_t filtered = after.filtered - before.filtered;
    // One of the three calls that the interrupt's longjmp leaves is sampled. The function it jumps
    // to may not be sampled: then it has no return if the interrupted code was just moving the top.
    const uint64_t open = way->sample == 1 ? 0 : 1;
    const uint64_t switches = task_calls != 0 ? 2 : 0;
    // A call that the other task's longjmp left may have its return in the next run.
    const uint64_t left = task_calls != 0 ? 1 : 0;
    const uint64_t made = records(after) - records(before),
                   wanted = way->records * (calls - filtered) + switches;
    if (made > wanted + left || made + open + left < wanted)
        return "a call made neither its records nor a count";
    if (way->min_duration == never && filtered != calls) return "a call was not too short";
    const uint64_t samples = (calls + way->sample - 1) / way->sample;
    if (way->recorder == Recorder::sampled && calls - filtered != samples) {
        return "not every n-th call was recorded";
    }
    const bool filters = way->min_duration != 0 || way->max_depth != 0 || way->sample != 1;
    return filters == (filtered != 0) ? nullptr : "the filter is not as it was set";
}

void sweep_one_way(const Way& one) {
    way = &one;
    nopscope::set_min_duration(one.min_duration);
    nopscope::set_max_depth(one.max_depth);
    must(nopscope::enable(one.recorder, Sites::all()));
    sweep_all(one.name, one.sample == 1 && one.max_depth == 0);
    nopscope::set_max_depth(0);
}

// Lossless: a call that finds the ring full at its end runs the pump. Fills the ring several times,
// and checks registers.
void fill_the_ring() {
    way = &ways[0];
    must(nopscope::enable(Recorder::duration, Sites::all()));
    start();
    constexpr unsigned rounds = 40000;
    for (unsigned n = 0; n < rounds; ++n) {
        if (check_registers(torture_nested, n, 0) != nullptr) fail(__FILE__, __LINE__);
    }
    const nopscope::Counters after = nopscope::counters();
    // The pump also makes records, around its work.
    const uint64_t made = records(after) - records(before), wanted = 3 * 2 * rounds;
    if (made < wanted || made > wanted + 1000 || after.dropped != 0) fail(__FILE__, __LINE__);
}

int run() {
    must(nopscope::init(silent_config("sweep-filters")));
    // In a chain of jumps the tracer's own records come between those of calls.
    start_sweep({paths, std::span(register_callees).first<4>(), start, finish});
    for (const Way& one : ways) sweep_one_way(one);
    nopscope::set_min_duration(0);
    fill_the_ring();
    return end_sweep();
}

}  // namespace
}  // namespace torture

int main() { nopscope::hal::exit(torture::run()); }
