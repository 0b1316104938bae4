// SPDX-License-Identifier: Apache-2.0
// Finds and starts the other cores. State of a core is in its registers or in arrays by core.
#include "hal/cores.hpp"

#include <atomic>

#include "hal/hal.hpp"
#include "hal/interrupts.hpp"
#include "hal/parts.hpp"
#include "hal/symbols.hpp"

namespace nopscope::hal {

namespace {

using Entry = void (*)(unsigned core);

unsigned cores_found = 1;
bool was_started[max_cores];
Entry entries[max_cores];
std::atomic<bool> any_started;
constinit std::atomic<std::uint32_t> online = 1;

bool is_online(unsigned core) { return (online_cores() >> core & 1) != 0; }

}  // namespace

void find_cores() { cores_found = count_cores(); }

unsigned core_count() { return cores_found; }
std::uint32_t online_cores() { return online.load(std::memory_order_acquire); }
bool others_started() { return any_started.load(std::memory_order_relaxed); }

StackBounds emergency_stack_bounds(unsigned core) {
    const std::uint64_t offset = core * emergency_stack_stride;
    return {.low = address_of(__emergency_stack_low) + offset,
            .high = address_of(__emergency_stack_high) + offset};
}

StackBounds stack_bounds(unsigned core) {
    if (core == 0) return {.low = address_of(__stack_low), .high = address_of(__stack_high)};
    const std::uint64_t first = address_of(__core_stacks_low);
    const std::uint64_t each = (address_of(__core_stacks_high) - first) / (max_cores - 1);
    return {.low = first + (core - 1) * each + page_bytes, .high = first + core * each};
}

StackBounds stack_bounds() { return stack_bounds(this_core()); }

bool start_core(unsigned core, void (*entry)(unsigned core)) {
    if (this_core() != 0) panic("start_core: the boot core starts the others");
    if (core == 0 || core >= core_count() || was_started[core]) return false;
    any_started.store(true, std::memory_order_relaxed);
    entries[core] = entry;
    device_barrier();  // completes all writes before the new core's first instruction
    if (!power_on(core)) return false;
    was_started[core] = true;
    const std::uint64_t limit = clock() + clock_hz();
    while (!is_online(core)) {
        if (clock() > limit) return false;
        yield();
    }
    return true;
}

}  // namespace nopscope::hal

using namespace nopscope;
using namespace nopscope::hal;

// This core is online before the barriers, and enters after them. A core that changed text and did
// not see this one online had completed the change before: this core fetches the new text.
void nopscope_secondary_main(unsigned core) {
    const std::uint32_t bit = 1u << core;
    interrupts_start_core();
    finish_core_setup();
    online.fetch_or(bit, std::memory_order_acq_rel);
    memory_barrier();
    fetch_barrier();
    entries[core](core);

    disable_interrupts();
    timer_disarm();
    online.fetch_and(~bit, std::memory_order_acq_rel);
    // Serve cores that asked before that. Later ones do not wait for this core.
    memory_barrier();
    serve_core_calls({.core = core, .pc = address_of(__builtin_return_address(0)), .depth = 0});
    interrupts_stop_core();  // a late call would keep waking it
    power_off_this_core();
}
