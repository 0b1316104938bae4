// SPDX-License-Identifier: Apache-2.0
// Several cores: each is set up like the boot core, and has its own state. With one core each test
// says so and passes.
#include "tests/firmware/selftest/core_tests.hpp"

#include <atomic>

#include "hal/cores.hpp"
#include "hal/expect_fault.hpp"
#include "hal/hal.hpp"
#include "tests/firmware/selftest/capture.hpp"
#include "tests/firmware/selftest/machine.hpp"

namespace nopscope::selftest {

namespace {

struct alignas(64) Worker {
    std::atomic<Job> job;
    std::atomic<bool> is_dismissed;
    bool began_right;
};
Worker workers[hal::max_cores];
constexpr unsigned wake_sgi = 2;

void work(unsigned core) {
    Worker& mine = workers[core];
    mine.began_right = !hal::interrupts_enabled() && unknown_registers_are_zero();
    hal::set_handler(wake_sgi, 12, [](unsigned) {});
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
    hal::raise_interrupt_on(core, wake_sgi);
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
    hal::raise_interrupt_on(core, wake_sgi);
}

const char* cores_note() {
    static const char* const notes[] = {"one core", "2 cores", "3 cores", "4 cores",
                                        "5 cores",  "6 cores", "7 cores", "8 cores"};
    return notes[__builtin_popcount(hal::online_cores()) - 1];
}

}  // namespace nopscope::selftest

using namespace nopscope;
using namespace nopscope::selftest;

namespace {

constexpr unsigned timer = hal::timer_interrupt;

std::atomic<unsigned> seen[hal::max_cores];

void forget() {
    for (auto& count : seen) count = 0;
}
void note_this_core() { ++seen[hal::this_core()]; }
bool each_other_was_seen(unsigned times) {
    return all_other_cores([=](unsigned core) { return seen[core] == times; });
}

struct State {
    MachineState machine;
    std::uint64_t sp, cycles_taken;
    bool has_interrupts;
};
State states[hal::max_cores];

void read_state(State& state) {
    const auto sp = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0));
    state = {read_machine_state(), sp, hal::cycles(), hal::interrupts_enabled()};
    for (const std::uint64_t clock = hal::clock(); hal::clock() == clock;) {
    }
    state.cycles_taken = hal::cycles() - state.cycles_taken;
}

}  // namespace

SELFTEST_OF_CORES("core.all_start_once") {
    for (unsigned core = 0; core <= hal::max_cores; ++core)
        REQUIRE(!hal::start_core(core, [](unsigned) {}));
    REQUIRE(hal::online_cores() == (1u << hal::core_count()) - 1);
}

SELFTEST_OF_CORES("core.each_is_set_up_as_the_boot_core") {
    read_state(states[0]);
    on_other_cores([](unsigned core) { read_state(states[core]); });
    REQUIRE(workers_done());
    const State& boot = states[0];
    for (unsigned core = 0; core < hal::core_count(); ++core) {
        const State& state = states[core];
        const hal::StackBounds stack = hal::stack_bounds(core);
        REQUIRE(is_set_up(state.machine) && state.machine == boot.machine);
        REQUIRE(state.sp >= stack.low && state.sp < stack.high);
        REQUIRE(state.cycles_taken != 0 || boot.cycles_taken == 0);
        REQUIRE(state.has_interrupts && (core == 0 || workers[core].began_right));
    }
}

namespace {

hal::Fault faults[hal::max_cores];
volatile unsigned endless = ~0u;

// Uses 512 bytes of stack at a time until it reaches the guard page.
[[gnu::noinline]] unsigned sink_deeper(unsigned depth) {
    volatile char room[512];
    room[0] = static_cast<char>(depth);
    if (depth == endless) return 0;
    return sink_deeper(depth + 1) + static_cast<unsigned char>(room[0]);
}

bool is_unmapped(std::uint64_t address) {
    return hal::expect_fault([](void* at) { static_cast<void>(*static_cast<volatile char*>(at)); },
                             reinterpret_cast<void*>(address))
        .happened;
}

}  // namespace

// All cores, also the boot core, fault at the same time. Each saves its registers on its own
// emergency stack.
SELFTEST_OF_CORES("core.stack_overflow_is_caught_on_each_at_once") {
    static std::atomic<unsigned> expecting;
    expecting = 0;
    const Job overflow = [](unsigned core) {
        faults[core] = hal::expect_fault(
            [](void*) {
                ++expecting;
                wait_for([] { return expecting == hal::core_count(); });
                sink_deeper(0);
            },
            nullptr);
    };
    on_other_cores(overflow);
    overflow(0);
    REQUIRE(workers_done());
    for (unsigned core = 0; core < hal::core_count(); ++core) {
        const hal::Fault& fault = faults[core];
        const std::uint64_t low = hal::stack_bounds(core).low;
        const std::uint64_t at = fault_address(fault);
        REQUIRE(is_unmapped_data(fault) && at < low && at >= low - hal::page_bytes);
        REQUIRE(hal::fault_address(fault_frame(core)) == at);
    }
    // After that: each of these faults uses the boot core's emergency stack.
    for (unsigned core = 0; core < guarded_stacks(); ++core) {
        const std::uint64_t low = hal::stack_bounds(core).low;
        REQUIRE(is_unmapped(low - 8) && is_unmapped(low - hal::page_bytes) && !is_unmapped(low));
        REQUIRE(is_unmapped(hal::emergency_stack_bounds(core).low - 8));
        REQUIRE(!is_unmapped(hal::emergency_stack_bounds(core).low));
    }
}

SELFTEST_OF_CORES("core.each_has_its_own_timer") {
    forget();
    on_other_cores([](unsigned core) {
        hal::set_handler(timer, 8, [](unsigned) {
            hal::timer_disarm();
            note_this_core();
        });
        for (unsigned i = 1; i <= 3; ++i) {
            hal::timer_arm(hal::clock() + hal::clock_hz() / 1000);
            wait_for([=] { return seen[core] >= i; });
        }
        hal::disable_interrupt(timer);
    });
    REQUIRE(workers_done() && each_other_was_seen(3) && seen[0] == 0);
}

SELFTEST_OF_CORES("core.sgis_reach_the_core_they_name") {
    constexpr unsigned sgi = 6;
    forget();
    const Job listen = [](unsigned) {
        hal::set_handler(sgi, 8, [](unsigned) { note_this_core(); });
    };
    listen(0);
    on_other_cores(listen);
    REQUIRE(workers_done());
    unsigned raised = 0;
    REQUIRE(all_other_cores([&](unsigned core) {
        hal::raise_interrupt_on(core, sgi);
        wait_for([=] { return seen[core] == 1; });
        unsigned taken = 0;
        for (const auto& count : seen) taken += count;
        return taken == ++raised;
    }));
    // And back, one core after the other, so that no two SGIs merge.
    REQUIRE(all_other_cores([](unsigned core) {
        const unsigned before = seen[0];
        on_core(core, [](unsigned) { hal::raise_interrupt_on(0, sgi); });
        return workers_done() && wait_for([=] { return seen[0] == before + 1; });
    }));
    REQUIRE(each_other_was_seen(1));
}

// All cores print the same line, sixteen times in total. A torn line differs.
SELFTEST_OF_CORES("core.console_lines_stay_whole") {
    static std::atomic<unsigned> next, ready;
    next = ready = 0;
    const Job print_lines = [](unsigned) {
        constexpr char line[] = "core: a line that nobody else's is mixed into\n";
        ++ready;
        wait_for([] { return ready == hal::core_count(); });
        while (next.fetch_add(1) < 16) hal::console_write(line, sizeof line - 1);
    };
    on_other_cores(print_lines);
    print_lines(0);
    REQUIRE(workers_done());
}
