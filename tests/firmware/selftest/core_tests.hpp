// SPDX-License-Identifier: Apache-2.0
// Workers: each core but the boot core waits in a loop for something to run.
//
//     on_other_cores([](unsigned core) { seen[core] = 1; });   // starts it on each
//     REQUIRE(workers_done());                                 // and waits
#pragma once

#include <cstdint>

#include "hal/hal.hpp"

extern "C" {
int selftest_toggle();
extern const std::uint32_t selftest_toggle_branch;
void selftest_spin(const volatile std::uint32_t* until);
extern const char selftest_spin_end[];
}

namespace nopscope::selftest {

using Job = void (*)(unsigned core);

// The first call starts the workers. False: not all did.
bool start_workers();
// A worker runs `job` in thread context with interrupts on. One at a time each.
void on_core(unsigned core, Job job);
void on_other_cores(Job job);
// Waits until no worker has a job. False: one still has, after a time that nothing here takes.
bool workers_done();
// Makes a worker's entry return. Its core is off for good.
void dismiss(unsigned core);
// Whether the core's first act found interrupts masked.
bool began_masked(unsigned core);
// Whether TPIDR_EL1 and FPCR were zero then.
bool began_zeroed(unsigned core);
// Cores that are online, in a static text: "one core", "4 cores".
const char* cores_note();

// Seconds: a hang detector only.
inline constexpr std::uint64_t patience_seconds = 20;
template <typename Condition>
bool wait_for(Condition condition) {
    const std::uint64_t limit = hal::clock() + patience_seconds * hal::clock_hz();
    while (!condition()) {
        if (hal::clock() > limit) return false;
        hal::yield();
    }
    return true;
}

template <typename Visit>
void for_each_other_core(Visit visit) {
    for (unsigned core = 0; core < hal::max_cores; ++core) {
        if (core != hal::this_core() && (hal::online_cores() >> core & 1) != 0) visit(core);
    }
}

}  // namespace nopscope::selftest
