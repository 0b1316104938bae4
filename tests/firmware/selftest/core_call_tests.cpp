// SPDX-License-Identifier: Apache-2.0
// Calls between cores. They reach every core, whatever it does, and no offline core.
#include <atomic>

#include "hal/hal.hpp"
#include "hal/symbols.hpp"
#include NOPSCOPE_HAL_FILE(machine.hpp)
#include "tests/firmware/selftest/core_tests.hpp"
#include "tests/firmware/selftest/selftest.hpp"
#include "tests/firmware/selftest/targets.hpp"

using namespace nopscope;
using namespace nopscope::selftest;

namespace {

constexpr Machine machine;

struct alignas(64) Called {
    std::atomic<unsigned> count;
    Interrupted here;
};
Called called[hal::max_cores];

void note(void* argument, const Interrupted& here) {
    Called& mine = static_cast<Called*>(argument)[hal::this_core()];
    mine.here = here;
    ++mine.count;
}
void forget() {
    for (Called& one : called) one.count = 0;
}
bool each_other_was_called_once(unsigned depth) {
    const auto was = [=](unsigned core) {
        const auto& [count, here] = called[core];
        return count == 1 && here.core == core && here.depth == depth && hal::is_text(here.pc);
    };
    return all_other_cores(was) && called[hal::this_core()].count == 0;
}

std::atomic<unsigned> ready;
volatile std::uint32_t released;

// Makes each other core wait in `job`, which increments `ready` and returns when released.
bool occupy(Job job) {
    ready = 0;
    released = 0;
    on_other_cores(job);
    return wait_for([] { return ready + 1 == hal::core_count(); });
}
bool release() {
    released = 1;
    return workers_done();
}
// A call reaches all of them once while they do `job`, at this interrupt depth.
bool reaches(Job job, unsigned depth) {
    if (!occupy(job)) return false;
    wait_ticks(hal::clock_hz() / 100);  // until all of them spin
    forget();
    const bool once = machine.run_on_other_cores(note, called) && each_other_was_called_once(depth);
    return release() && once;
}

}  // namespace

SELFTEST_OF_CORES("core.calls_reach_a_spinning_core") {
    REQUIRE(machine.online_cores() == hal::online_cores());
    REQUIRE(reaches(
        [](unsigned) {
            ++ready;
            selftest_spin(&released);
        },
        0));
    const std::uint64_t loop = hal::address_of(reinterpret_cast<void*>(selftest_spin));
    REQUIRE(all_other_cores([=](unsigned core) {
        const std::uint64_t pc = called[core].here.pc;
        return pc >= loop && pc < hal::address_of(selftest_spin_end);
    }));
}

SELFTEST_OF_CORES("core.calls_interrupt_a_long_handler") {
    constexpr unsigned sgi = 5;
    // Priority 1: with only sixteen priorities a call does not interrupt priority 0.
    REQUIRE(reaches(
        [](unsigned) {
            hal::set_handler(sgi, 1, [](unsigned) {
                ++ready;
                selftest_spin(&released);
            });
            hal::raise_interrupt(sgi);
            selftest_spin(&released);
            hal::disable_interrupt(sgi);
        },
        1));
}

SELFTEST_OF_CORES("core.calls_of_all_cores_at_once") {
    constexpr unsigned rounds = 100;
    static std::atomic<unsigned> failures;
    failures = 0;
    forget();
    const Job call_the_others = [](unsigned) {
        ++ready;
        wait_for([] { return ready == hal::core_count(); });
        for (unsigned i = 0; i < rounds; ++i) {
            if (!machine.run_on_other_cores(note, called)) ++failures;
            // Also with interrupts masked: a waiting caller serves calls.
            const hal::InterruptsMasked masked;
            if (!machine.run_on_other_cores(note, called)) ++failures;
        }
    };
    ready = 0;
    on_other_cores(call_the_others);
    call_the_others(0);
    REQUIRE(workers_done());
    // Now and then a loaded host stops one of its threads for a second.
    REQUIRE(failures < rounds / 20);
    for (unsigned core = 0; core < hal::core_count(); ++core) {
        const unsigned all = 2 * rounds * (hal::core_count() - 1);
        REQUIRE(called[core].count <= all && called[core].count + failures >= all);
    }
}

SELFTEST_OF_CORES("core.calls_wait_for_a_masked_core") {
    REQUIRE(occupy([](unsigned) {
        const hal::InterruptsMasked masked;
        ++ready;
        wait_ticks(hal::clock_hz() / 20);
        released = 1;
    }));
    forget();
    const bool came = machine.run_on_other_cores(note, called);
    REQUIRE(released == (hal::core_count() > 1) && came && each_other_was_called_once(0));
    REQUIRE(workers_done());
}

SELFTEST_OF_CORES("core.calls_that_are_not_answered_end") {
    REQUIRE(occupy([](unsigned) {
        const hal::InterruptsMasked masked;
        ++ready;
        selftest_spin(&released);
    }));
    forget();
    const std::uint64_t before = hal::clock();
    const bool came = machine.run_on_other_cores(note, called);
    const std::uint64_t taken = hal::clock() - before;
    REQUIRE(release());
    // The core does not run a call that was taken back, but it runs the next one.
    for (const Called& one : called) REQUIRE(one.count == 0);
    REQUIRE(machine.run_on_other_cores(note, called) && each_other_was_called_once(0));
    REQUIRE(hal::core_count() == 1 || (!came && taken >= hal::clock_hz()));
}

// ---- text ----

void selftest::patch_once(std::uint64_t word, std::uint32_t instruction) {
    machine.write_word(word, instruction);
    if (machine.dcache_line_bytes() != 0) machine.clean_dcache_line(word);
    machine.data_barrier();
    if (machine.icache_line_bytes() != 0) machine.invalidate_icache_line(word);
    machine.data_barrier();
    machine.instruction_barrier();
    if (!machine.synchronize_other_cores()) hal::panic("a core did not take part");
}

namespace {

std::atomic<unsigned> generation;  // odd: changing; bit 1: what the function returns
struct alignas(64) Checked {
    std::atomic<unsigned> right, wrong;
};
Checked checks[hal::max_cores];

void check_toggle(unsigned core) {
    const unsigned before = generation;
    const auto result = static_cast<unsigned>(selftest_toggle());
    if (before % 2 != 0 || generation != before) return;
    ++(result == (before >> 1 & 1) ? checks[core].right : checks[core].wrong);
}

bool checks_again(unsigned core) {
    const auto count = [=] { return checks[core].right + checks[core].wrong; };
    const unsigned before = count();
    return wait_for([=] { return count() > before; });
}

// Twice, because of QEMU with a thread for each core. QEMU drops its translations of a word
// *before* the store to it. Another core that translates in between keeps the old word for ever.
// After the first call every core has finished such a translation, and the second store drops it.
// With thread=single, and on hardware, once is enough.
void patch(Address word, std::uint32_t instruction) {
    patch_once(word, instruction);
    patch_once(word, instruction);
}

}  // namespace

SELFTEST_OF_CORES("core.patched_text_is_seen_by_all") {
    const Address word = hal::address_of(reinterpret_cast<void*>(selftest_toggle));
    const std::uint32_t words[2] = {machine.read_word(word), selftest_toggle_branch};
    for (Checked& one : checks) one.right = 0, one.wrong = 0;
    generation = 0;
    REQUIRE(occupy([](unsigned core) {
        ++ready;
        while (released == 0) {
            check_toggle(core);
            hal::yield();
        }
    }));
    bool all_checked = true;
    for (unsigned state = 1; state <= 40; ++state) {
        ++generation;
        patch(word, words[state % 2]);
        ++generation;
        check_toggle(0);
        if (state % 8 <= 1) all_checked = all_checked && all_other_cores(checks_again);
    }
    REQUIRE(release() && machine.read_word(word) == words[0] && all_checked);
    for (const Checked& one : checks) REQUIRE(one.wrong == 0);
}

// ---- last in this file: a core goes offline ----

SELFTEST_OF_CORES("core.one_that_returns_is_off_and_not_waited_for") {
    const unsigned last = hal::core_count() - 1;
    if (last == 0) return;
    dismiss(last);
    // Calls at the same time: the core may go offline while a call waits for it.
    while ((hal::online_cores() >> last & 1) != 0)
        REQUIRE(machine.run_on_other_cores(note, called));
    forget();
    const std::uint64_t before = hal::clock();
    REQUIRE(machine.run_on_other_cores(note, called) && hal::clock() - before < hal::clock_hz());
    REQUIRE(called[last].count == 0 && each_other_was_called_once(0));
    REQUIRE(!hal::start_core(last, [](unsigned) {}));
}
