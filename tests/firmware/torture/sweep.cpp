// SPDX-License-Identifier: Apache-2.0
// The recorders' hot paths: both entries and the return hook.
#include "tests/firmware/torture/sweep.hpp"
#include "nopscope/events.hpp"
#include "nopscope/return_ops.hpp"
#include "tests/firmware/image.hpp"
#include "tests/firmware/torture/torture.hpp"

#include <stdio.h>

// The hot paths, labels in tracer/arch/arm64/recorders.S and callback_hook.S.
extern "C" const char nopscope_function_entry[], nopscope_function_entry_end[],
    nopscope_graph_entry[], nopscope_graph_entry_end[], nopscope_return_hook[],
    nopscope_return_hook_end[], nopscope_callback_hook[], nopscope_callback_hook_end[],
    nopscope_graph_events_entry[], nopscope_graph_events_entry_end[], nopscope_graph_events_hook[],
    nopscope_graph_events_hook_end[];

namespace hal = nopscope::hal;

namespace torture {
namespace {

using nopscope::Recorder;
using nopscope::Sites;

Path paths[] = {
    {"function_entry", nopscope_function_entry, nopscope_function_entry_end},
    {"graph_entry", nopscope_graph_entry, nopscope_graph_entry_end},
    {"return_hook", nopscope_return_hook, nopscope_return_hook_end},
    {"callback_hook", nopscope_callback_hook, nopscope_callback_hook_end},
    {"graph_events_entry", nopscope_graph_events_entry, nopscope_graph_events_entry_end},
    {"graph_events_hook", nopscope_graph_events_hook, nopscope_graph_events_hook_end},
};

void sweep_with(Recorder recorder, const char* name, bool hooked) {
    must(nopscope::enable(recorder, Sites::all()), "enable");
    sweep_all(name, hooked);
}

// The graph recorder is enabled on the sites.
void sweep_events() {
    constexpr uint16_t events[] = {0x00, 0x11};  // SW_INCR, CPU_CYCLES
    must(nopscope::count_events(events), "count events");
    sweep_all("graph with events", true);
    must(nopscope::count_events({}), "count no events");
}

uint64_t entries, exits;
bool count_entry(uint64_t, uint64_t, nopscope::ReturnOps*, nopscope::Regs*, nopscope::CallData*) {
    __atomic_fetch_add(&entries, 1, __ATOMIC_RELAXED);
    return true;
}
void count_exit(uint64_t, uint64_t, nopscope::ReturnOps*, nopscope::ReturnRegs*,
                nopscope::CallData*) {
    __atomic_fetch_add(&exits, 1, __ATOMIC_RELAXED);
}

// Callbacks at entry and return beside the recorder, also for the interrupt's calls. The oracle
// (tests/e2e/oracle_test.py) counts the same calls.
void sweep_return_callbacks() {
    static nopscope::ReturnOps counting(count_entry, count_exit);
    must(nopscope::attach(counting, Sites::all()), "attach");
    sweep_with(Recorder::graph, "callbacks and graph", true);
    must(nopscope::detach(counting), "detach");
    printf("sweep: callbacks: %lu entries, %lu exits\n", static_cast<unsigned long>(entries),
           static_cast<unsigned long>(exits));
    if (exits == 0 || exits > entries) fail(__FILE__, __LINE__);
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
    sweep_events();
    sweep_return_callbacks();

    must(nopscope::disable(Sites::all()), "disable");
    const nopscope::Counters counters = nopscope::counters();
    if (counters.dropped + counters.shadow_stack_full + counters.off_stack != 0) {
        printf("sweep: dropped %lu, shadow_stack_full %lu, off_stack %lu: must be 0\n",
               static_cast<unsigned long>(counters.dropped),
               static_cast<unsigned long>(counters.shadow_stack_full),
               static_cast<unsigned long>(counters.off_stack));
        fail(__FILE__, __LINE__);
    }
    const unsigned failures = end_sweep();
    nopscope::finish();
    return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace torture

int main() { nopscope::hal::exit(torture::run()); }
