// SPDX-License-Identifier: Apache-2.0
// Finds and starts the other cores. All share the boot core's page tables, which do not change
// after boot. Other state of a core is in its registers or in arrays by core.
#include "hal/cores.hpp"

#include <atomic>

#include "hal/arm64/asm.hpp"
#include "hal/arm64/boot.hpp"
#include "hal/arm64/interrupts.hpp"
#include "hal/arm64/machine.hpp"
#include "hal/arm64/page_table.hpp"
#include "hal/arm64/psci.hpp"
#include "hal/arm64/registers.hpp"
#include "hal/arm64/setup.h"
#include "hal/board.hpp"
#include "hal/hal.hpp"
#include "hal/symbols.hpp"

constinit nopscope::hal::SecondarySetup nopscope_secondary_setup = {};

namespace nopscope::hal {

namespace {

using Entry = void (*)(unsigned core);

unsigned cores_found = 1;
bool was_started[max_cores];
Entry entries[max_cores];
std::atomic<bool> any_started;
constinit std::atomic<std::uint32_t> online = 1;

// Affinity 0.0.0.core, or 0.0.core.0 if cores have threads; the boot core has 0.0.0.0.
std::uint64_t mpidr_of(unsigned core) {
    return std::uint64_t{core} << affinity_shift(read_mpidr_el1());
}

void clean_to_memory(const void* start, std::size_t bytes) {
    constexpr std::size_t smallest_line_bytes = 16;
    for (std::size_t done = 0; done < bytes; done += smallest_line_bytes) {
        asm volatile("dc cvac, %0" ::"r"(address_of(start) + done) : "memory");
    }
    device_barrier();
}

void prepare_setup() {
    SecondarySetup& setup = nopscope_secondary_setup;
    setup.mair = read_mair_el1();
    setup.tcr = read_tcr_el1();
    setup.ttbr0 = read_ttbr0_el1();
    setup.sctlr = read_sctlr_el1();
    setup.has_keys = CpuFeatures::read().pac;
    if (setup.has_keys != 0) {
        setup.keys[0] = read_apia_key_lo_el1();
        setup.keys[1] = read_apia_key_hi_el1();
        setup.keys[2] = read_apib_key_lo_el1();
        setup.keys[3] = read_apib_key_hi_el1();
        setup.keys[4] = read_apda_key_lo_el1();
        setup.keys[5] = read_apda_key_hi_el1();
        setup.keys[6] = read_apdb_key_lo_el1();
        setup.keys[7] = read_apdb_key_hi_el1();
    }
    for (unsigned core = 0; core < max_cores; ++core) {
        setup.stack_high[core] = stack_bounds(core).high;
    }
    clean_to_memory(&setup, sizeof setup);
}

// Writes the word that the core waits for, in memory: the core does not see this core's caches.
void release(unsigned core, std::uint64_t start) {
    const std::uint64_t first = board.core_start.spin_table.first_word + text_alias_offset;
    auto* const word = reinterpret_cast<volatile std::uint64_t*>(first) + core;
    *word = start;
    clean_to_memory(const_cast<const std::uint64_t*>(word), sizeof *word);
    asm volatile("sev");
}

bool power_on(unsigned core) {
    const std::uint64_t start = address_of(nopscope_secondary_start);
    if (board.core_start.psci != Psci::none) {
        return psci(psci_cpu_on, mpidr_of(core), start) == psci_success;
    }
    release(core, start);
    return true;
}

bool is_online(unsigned core) { return (online_cores() >> core & 1) != 0; }

}  // namespace

void find_cores() {
    if (board.core_start.psci == Psci::none) cores_found = board.core_start.spin_table.cores;
    while (cores_found < max_cores && psci(psci_affinity_info, mpidr_of(cores_found), 0) >= 0) {
        ++cores_found;
    }
}

unsigned core_count() { return cores_found; }
unsigned this_core() { return Machine{}.core(); }
std::uint32_t online_cores() { return online.load(std::memory_order_acquire); }
bool others_started() { return any_started.load(std::memory_order_relaxed); }

StackBounds emergency_stack_bounds(unsigned core) {
    const std::uint64_t offset = std::uint64_t{core} << EMERGENCY_STACK_SHIFT;
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
    if (!others_started()) prepare_setup();
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
    start_cycle_counter();
    interrupts_start_core();
    report_serror();
    online.fetch_or(bit, std::memory_order_acq_rel);
    dsb_ish();
    isb();
    entries[core](core);

    disable_interrupts();
    timer_disarm();
    online.fetch_and(~bit, std::memory_order_acq_rel);
    // Serve cores that asked before that. Later ones do not wait for this core.
    dsb_ish();
    serve_core_calls({.core = core, .pc = address_of(__builtin_return_address(0)), .depth = 0});
    interrupts_stop_core();  // a late call would keep waking it
    psci(psci_cpu_off);
    for (;;) wait_for_interrupt();
}
