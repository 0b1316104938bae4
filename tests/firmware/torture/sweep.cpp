// SPDX-License-Identifier: Apache-2.0
// The recorders' hot paths: both entries and the return hook.
#include "tests/firmware/torture/sweep.hpp"
#include "nopscope/events.hpp"

#include <stdio.h>

namespace torture {
namespace {

Path paths[] = {
    SWEEP_PATH(function_entry), SWEEP_PATH(graph_entry),        SWEEP_PATH(return_hook),
    SWEEP_PATH(callback_hook),  SWEEP_PATH(graph_events_entry), SWEEP_PATH(graph_events_hook),
};

void sweep_with(Recorder recorder, const char* name, bool hooked) {
    must(nopscope::enable(recorder, Sites::all()));
    sweep_all(name, hooked);
}

// The graph recorder is enabled on the sites.
void sweep_events() {
    constexpr uint16_t events[] = {0x00, 0x11};  // SW_INCR, CPU_CYCLES
    must(nopscope::count_events(events));
    sweep_all("graph with events", true);
    must(nopscope::count_events({}));
}

// Callbacks at entry and return beside the recorder, also for the interrupt's calls. The oracle
// (tests/e2e/oracle_test.py) counts the same calls.
void sweep_return_callbacks() {
    must(nopscope::attach(image::counting_calls, Sites::all()));
    sweep_with(Recorder::graph, "callbacks and graph", true);
    must(nopscope::detach(image::counting_calls));
    printf("sweep: callbacks: %lu entries, %lu exits\n", image::begun, image::ended);
    if (image::ended == 0 || image::ended > image::begun) fail(__FILE__, __LINE__);
}

nopscope::Config config() {
    nopscope::Config config = board_config("sweep");
    config.mode = nopscope::Mode::lossless;
    config.interrupt_depth = hal::interrupt_depth_of;
    return config;
}

int run() {
    image::start_tracer(config());
    start_sweep({paths, register_callees});
    sweep_with(Recorder::function, "function", false);
    sweep_with(Recorder::graph, "graph", true);
    if constexpr (counts_events) sweep_events();
    sweep_return_callbacks();

    return end_sweep();
}

}  // namespace
}  // namespace torture

int main() { nopscope::hal::exit(torture::run()); }
