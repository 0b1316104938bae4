// SPDX-License-Identifier: Apache-2.0
// The recorders' hot paths: both trampolines and the return hook.
#include "firmware/torture/registers.hpp"
#include "firmware/torture/sweep.hpp"
#include "firmware/torture/torture.hpp"
#include "hal/hal.hpp"

#include <stdio.h>

// The hot paths, labels in tracer/arm64/recorders.S.
extern "C" const char nopscope_function_entry[], nopscope_function_entry_end[],
    nopscope_graph_entry[], nopscope_graph_entry_end[], nopscope_return_hook[],
    nopscope_return_hook_end[];

namespace hal = nopscope::hal;

namespace torture {
namespace {

using nopscope::Recorder;
using nopscope::Sites;

Path paths[] = {
    {"function_entry", nopscope_function_entry, nopscope_function_entry_end},
    {"graph_entry", nopscope_graph_entry, nopscope_graph_entry_end},
    {"return_hook", nopscope_return_hook, nopscope_return_hook_end},
};
constexpr Callee callees[] = {
    {"landing", torture_landing, 1},
    {"tail", torture_tail, 2},
    {"nested", torture_nested, 2},
    {"leaping", torture_leaping, 3},
};

nopscope::Config config() {
    const auto stack = hal::stack_bounds();
    nopscope::Config config;
    config.image = "sweep";
    config.board = hal::board_name();
    config.clock_hz = hal::clock_hz();
    config.output = {hal::uart_try_write, hal::uart_drain};
    config.stack_low = stack.low;
    config.stack_high = stack.high;
    config.mode = nopscope::Mode::lossless;
    return config;
}

void sweep_with(Recorder recorder, const char* name, bool hooked) {
    if (nopscope::enable(recorder, Sites::all()) != nopscope::Status::ok) {
        hal::panic("sweep: enable failed");
    }
    sweep_all(name, hooked);
}

int run() {
    const nopscope::Status status = nopscope::init(config());
    if (status != nopscope::Status::ok) hal::panic(nopscope::describe(status));
    hal::set_console({nopscope::console_write, nopscope::enter_panic});
    hal::set_return_hook({nopscope::return_hook_address(), nopscope::hooked_return_address});
    start_sweep({paths, 3, callees, 4, nullptr, nullptr});
    sweep_with(Recorder::function, "function", true);
    sweep_with(Recorder::graph, "graph", true);

    if (nopscope::disable(Sites::all()) != nopscope::Status::ok)
        hal::panic("sweep: disable failed");
    const nopscope::Counters counters = nopscope::counters();
    if (counters.dropped + counters.unhooked + counters.foreign != 0) {
        printf("sweep: dropped %lu, unhooked %lu, foreign %lu: must be 0\n",
               static_cast<unsigned long>(counters.dropped),
               static_cast<unsigned long>(counters.unhooked),
               static_cast<unsigned long>(counters.foreign));
        fail(__FILE__, __LINE__);
    }
    const unsigned failures = end_sweep();
    nopscope::finish();
    return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace torture

int main() { nopscope::hal::exit(torture::run()); }
