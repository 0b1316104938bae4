// SPDX-License-Identifier: Apache-2.0
// Workers: each core except the boot core waits in a loop for a job.
//
//     on_other_cores([](unsigned core) { seen[core] = 1; });   // starts it on each
//     REQUIRE(workers_done());                                 // and waits
#pragma once

#include <cstdint>

#include "tests/firmware/selftest/selftest.hpp"

namespace nopscope::selftest {

using Job = void (*)(unsigned core);

// The first call starts the workers. False: a core did not start.
bool start_workers();
// A worker runs `job` in thread context with interrupts enabled. It has one job at a time.
void on_core(unsigned core, Job job);
void on_other_cores(Job job);
// Waits until no worker has a job. False: a job takes longer than patience_seconds.
bool workers_done();
// Makes a worker's entry return. Its core then powers off for good.
void dismiss(unsigned core);
// Whether interrupts were masked when the worker began.
bool began_masked(unsigned core);
// Whether TPIDR_EL1 and FPCR were zero when it began.
bool began_zeroed(unsigned core);
// Changes a word of text, and waits until all cores have the new one.
void patch_once(std::uint64_t word, std::uint32_t instruction);
// How many cores are online, as a static text: "one core", "4 cores".
const char* cores_note();

template <typename Visit>
void for_each_other_core(Visit visit) {
    for (unsigned core = 0; core < hal::max_cores; ++core) {
        if (core != hal::this_core() && (hal::online_cores() >> core & 1) != 0) visit(core);
    }
}

}  // namespace nopscope::selftest
