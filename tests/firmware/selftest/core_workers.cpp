// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstdio>

#include "tests/firmware/selftest/capture.hpp"
#include "tests/firmware/selftest/core_tests.hpp"

namespace nopscope::selftest {

namespace {

struct alignas(64) Worker {
    std::atomic<Job> job;
    std::atomic<bool> is_dismissed;
    bool began_masked;
    bool began_zeroed;
};
Worker workers[hal::max_cores];
constexpr unsigned wake_sgi = 2;

void wake(unsigned) {}

void work(unsigned core) {
    Worker& mine = workers[core];
    mine.began_masked = !hal::interrupts_enabled();
    std::uint64_t tpidr, fpcr;
    asm volatile("mrs %0, tpidr_el1" : "=r"(tpidr));
    asm volatile("mrs %0, fpcr" : "=r"(fpcr));
    mine.began_zeroed = tpidr == 0 && fpcr == 0;
    hal::set_handler(wake_sgi, 12, wake);
    while (!mine.is_dismissed.load()) {
        const Job job = mine.job.load();
        if (job != nullptr) {
            hal::enable_interrupts();
            job(core);
            mine.job.store(nullptr);
        }
        // Masked: else the wake-up could come between check and sleep. WFI wakes also while masked.
        hal::disable_interrupts();
        if (mine.job.load() == nullptr && !mine.is_dismissed.load()) hal::wait_for_interrupt();
        hal::enable_interrupts();
    }
}

}  // namespace

bool start_workers() {
    static bool started;
    static bool all;
    if (started) return all;
    started = true;
    all = tracer_is_up();  // before: init() does not write text that other cores may execute
    for (unsigned core = 1; core < hal::core_count(); ++core) {
        all = hal::start_core(core, work) && all;
    }
    return all;
}

void on_core(unsigned core, Job job) {
    workers[core].job.store(job);
    hal::raise_sgi_on(core, wake_sgi);
}

void on_other_cores(Job job) {
    for_each_other_core([job](unsigned core) { on_core(core, job); });
}

bool workers_done() {
    return wait_for([] {
        for (const Worker& worker : workers) {
            if (worker.job.load() != nullptr) return false;
        }
        return true;
    });
}

void dismiss(unsigned core) {
    workers[core].is_dismissed.store(true);
    hal::raise_sgi_on(core, wake_sgi);
}

bool began_masked(unsigned core) { return workers[core].began_masked; }
bool began_zeroed(unsigned core) { return workers[core].began_zeroed; }

const char* cores_note() {
    static char note[16];
    const auto count = static_cast<unsigned>(__builtin_popcount(hal::online_cores()));
    if (count == 1) return "one core";
    std::snprintf(note, sizeof note, "%u cores", count);
    return note;
}

}  // namespace nopscope::selftest
