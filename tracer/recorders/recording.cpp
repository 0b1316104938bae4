// SPDX-License-Identifier: Apache-2.0
// Functions that need only the cores' rings.
#include "nopscope/nopscope.hpp"
#include "tracer/core/cores.hpp"
#include "tracer/recorders/shadow_stack.hpp"
#include "tracer/stream/board_pump.hpp"

namespace nopscope {

namespace {

constinit Machine machine;

}  // namespace

void stop() {
    for (Core& core : all_cores()) {
        stop_core(core, stopped_by_request);
        // A start() meanwhile may have seen a limit that was not 0 yet.
        if (stops_of(core) == 0) apply_stops(machine, core);
    }
    in_force.set_stopped_at(machine.clock());
    if (initialised) send_stats_soon();
}

void send_soon() {
    for (Core& core : all_cores()) {
        __atomic_store_n(&core.send_to, __atomic_load_n(&core.cursor, __ATOMIC_RELAXED),
                         __ATOMIC_RELAXED);
    }
}

}  // namespace nopscope
