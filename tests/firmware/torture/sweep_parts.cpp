// SPDX-License-Identifier: Apache-2.0
// Parts of all sweeps: a run's use of the shadow stack before the call, the times of its
// interrupts, and the instructions that they hit.
#include "hal/hal.hpp"
#include "tests/firmware/torture/registers.hpp"
#include "tests/firmware/torture/sweep.hpp"
#include "tests/firmware/torture/torture.hpp"
#include "tracer/core/cores.hpp"

#include <stdio.h>

namespace torture {

namespace {

// Runs each phase. True: all interrupts came after the call.
bool all_after(unsigned phases, bool (*run)(const void*), const void* argument, unsigned& runs) {
    bool after = true;
    for (unsigned phase = 0; phase < phases; ++phase, ++runs) {
        torture_phase = phase;
        after = run(argument) && after;
    }
    return after;
}

}  // namespace

TORTURE_CALL void abandon_frames() {
    jmp_buf back;
    auto* room = static_cast<volatile char*>(__builtin_alloca(2048));
    room[0] = 1;
    if (setjmp(back) == 0) leap(2, back);
}

TORTURE_CALL void use_frames() {
    auto* room = static_cast<volatile char*>(__builtin_alloca(8192));
    room[0] = 1;
    if (deep(6, [] {}) != 6) fail(__FILE__, __LINE__);
}

void forget_lowest() {
    landing_sp = ~uint64_t{0};
    nopscope::Core& core = nopscope::all_cores()[0];
    if (calls_are_lowest) core.lowest_sp = core.stack_high;
}

const char* check_lowest() {
    if (!calls_are_lowest) return nullptr;
    const uint64_t landing = task_calls == 0 ? landing_sp : ~uint64_t{0};  // not the other task's
    const uint64_t lowest = __atomic_load_n(&nopscope::all_cores()[0].lowest_sp, __ATOMIC_RELAXED);
    return lowest > torture_returned.sp || lowest > landing ? "a lower call is forgotten" : nullptr;
}

unsigned sweep_delays(bool (*run)(const void*), const void* argument) {
    constexpr unsigned max_delay = 5000;
    // The wait for a tick ends within 3 instructions of it: more than a tick.
    const auto tick = static_cast<unsigned>(1000000000 / nopscope::hal::clock_hz());
    const unsigned phases = tick == 1 ? 1 : tick + 12;
    if (phases > max_phase) {
        nopscope::hal::panic("sweep: the clock is too slow for the NOPs there are");
    }
    unsigned runs = 0;
    for (unsigned delay = 1; delay < max_delay; ++delay) {
        torture_delay = delay;
        if (all_after(phases, run, argument, runs)) return runs;
    }
    return 0;
}

void note_landing(std::span<Path> paths) {
    for (Path& path : paths) {
        const uint64_t offset = came_at - reinterpret_cast<uint64_t>(path.begin);
        if (offset / 4 < path.length() && offset / 4 < Path::max_length) ++path.hits[offset / 4];
    }
}

unsigned report_hits(const char* image, std::span<const Path> paths) {
    constexpr uint32_t brk = 0xd4200000;  // not on the path (tracer/arch/arm64/hook.h)
    unsigned missed = 0;
    for (const Path& path : paths) {
        if (path.length() > Path::max_length) nopscope::hal::panic("sweep: a path is too long");
        const auto* words = reinterpret_cast<const uint32_t*>(path.begin);
        unsigned hit = 0, executed = 0;
        for (unsigned n = 0; n < path.length(); ++n) {
            if (words[n] == brk) continue;
            ++executed;
            if (path.hits[n] != 0) {
                ++hit;
            } else {
                printf("%s: %s+%#x was never hit\n", image, path.name, 4 * n);
            }
        }
        missed += executed - hit;
        printf("%s: %s: interrupted at %u of %u instructions\n", image, path.name, hit, executed);
    }
    return missed;
}

}  // namespace torture
