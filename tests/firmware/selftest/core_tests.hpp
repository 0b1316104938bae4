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
// Changes a word of text, and waits until all cores have the new one.
void patch_once(std::uint64_t word, std::uint32_t instruction);
// How many cores are online, as a static text: "one core", "4 cores".
const char* cores_note();

// A bit for each other core that is online.
inline unsigned other_cores() { return hal::online_cores() & ~(1u << hal::this_core()); }
template <typename Visit>
void for_each_other_core(Visit visit) {
    for (unsigned core = 0; core < hal::max_cores; ++core) {
        if ((other_cores() >> core & 1) != 0) visit(core);
    }
}
// Whether it is so for each of them. Does not ask further after a no.
template <typename Is>
bool all_other_cores(Is is) {
    bool all = true;
    for_each_other_core([&](unsigned core) { all = all && is(core); });
    return all;
}

}  // namespace nopscope::selftest

// A test with workers. Its note says how many cores there are.
#define SELFTEST_CORES_AS_(NAME, ID)                  \
    static void SELFTEST_JOIN(on_cores_, ID)();       \
    SELFTEST_AS_(NAME, ID) {                          \
        REQUIRE(nopscope::selftest::start_workers()); \
        passed(nopscope::selftest::cores_note());     \
        SELFTEST_JOIN(on_cores_, ID)();               \
    }                                                 \
    static void SELFTEST_JOIN(on_cores_, ID)()
#define SELFTEST_OF_CORES(NAME) SELFTEST_CORES_AS_(NAME, __LINE__)
