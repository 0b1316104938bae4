// SPDX-License-Identifier: Apache-2.0
// Finds, starts and ends cores: by PSCI, or from a spin table. All share the boot core's page
// tables, which do not change after boot.
#include "hal/cores.hpp"
#include "hal/arm64/asm.hpp"
#include "hal/arm64/machine.hpp"
#include "hal/arm64/page_table.hpp"
#include "hal/arm64/psci.hpp"
#include "hal/arm64/registers.hpp"
#include "hal/arm64/setup.h"
#include "hal/board.hpp"
#include "hal/hal.hpp"
#include "hal/parts.hpp"
#include "hal/symbols.hpp"

constinit nopscope::hal::SecondarySetup nopscope_secondary_setup = {};

namespace nopscope::hal {

namespace {

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

}  // namespace

unsigned this_core() { return Machine{}.core(); }

unsigned count_cores() {
    unsigned found = 1;
    if (board.core_start.psci == Psci::none) found = board.core_start.spin_table.cores;
    while (found < max_cores && psci(psci_affinity_info, mpidr_of(found), 0) >= 0) ++found;
    return found;
}

bool power_on(unsigned core) {
    prepare_setup();
    const std::uint64_t start = address_of(nopscope_secondary_start);
    if (board.core_start.psci != Psci::none) {
        return psci(psci_cpu_on, mpidr_of(core), start) == psci_success;
    }
    release(core, start);
    return true;
}

void power_off_this_core() {
    psci(psci_cpu_off);
    for (;;) wait_for_interrupt();
}

void firmware_power_off() { psci(psci_system_off); }
void firmware_reset() { psci(psci_system_reset); }

}  // namespace nopscope::hal
