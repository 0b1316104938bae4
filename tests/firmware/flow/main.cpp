// SPDX-License-Identifier: Apache-2.0
// flow.elf: chains of tail calls, and calls beyond the shadow stack. Words: those of
// trace_as_given(); `mixed`: the profile, the duration recorder and the graph recorder trace
// functions that jump to each other; `deep`: deep calls instead of jumps; `long`: fifty times as
// many jumps. The test counts the calls by the oracle.
#include "tests/firmware/flow/programs.hpp"
#include "tests/firmware/image.hpp"

#include <cstdio>

namespace hal = nopscope::hal;
using image::is_given, image::must, nopscope::Recorder, nopscope::Sites;

NOPSCOPE_NOTRACE int main() {
    nopscope::Config config = image::config_given("flow");
    const bool mixed = is_given("mixed"), deep = is_given("deep"), calls_back = is_given("ops=");
    if (mixed) config.profile_memory = image::profile_memory(config.cores);
    image::start_tracer(config);
    image::trace_as_given(Sites::all());
    if (mixed) {
        must(nopscope::enable(Recorder::profile, Sites::of(for_profile)));
        must(nopscope::enable(Recorder::duration, Sites::of(for_duration)));
    }
    const std::uint64_t jumps = is_given("long") ? 300'000 : 6'000;
    if (deep) {
        for (unsigned n = 0; n < 3; ++n) (void)run_deep(2'000);
    } else {
        (void)run_states(jumps);
        (void)run_interpreter(jumps);
        (void)run_coroutines(jumps / 2);
    }
    if (!deep && nopscope::counters().shadow_stack_full != 0)
        hal::panic("flow: jumps have filled the shadow stack");
    nopscope::stop();  // from here on calls would be executed and not recorded
    must(nopscope::disable(Sites::all()));
    if (calls_back) must(nopscope::detach(image::counting_calls));
    const std::uint64_t begun = image::begun, ended = image::ended;
    char line[80];
    (void)std::snprintf(line, sizeof line, "callbacks %lu %lu\n", begun, ended);
    hal::print(line);
    nopscope::finish();
    return 0;
}
