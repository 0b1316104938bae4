// SPDX-License-Identifier: Apache-2.0
// Command-line words: operations=N (200000), seed=N (1), cores=N (4); calls=N (100): another core's
// calls between two sleeps; steady=N (64): a permanent ops traces the first N functions, so only
// their slots change, not their words. QEMU with a thread for each core now and then loses a store
// to text that another core executes: steady=64 is for that mode. line=N: the storm comes from a
// host, over a line of N bytes a second. Exit status 0: no call was lost or foreign, and
// every word of text is right.
#include <cstdio>

#include "hal/arm64/machine.hpp"
#include "tests/firmware/storm/storm.hpp"
#include "tracer/arch/patch_site.hpp"

namespace storm {
namespace {

namespace hal = nopscope::hal;
using nopscope::Recorder;
using nopscope::Sites;
using nopscope::Status;

// ---- A storm from a host, by commands over the line (tests/verification/endurance/line_storm.py).
// All cores record, and core 0 pumps, for ever. The word mode=lossless, flight or adaptive selects
// the mode; without it: stream.

nopscope::Mode mode() {
    if (image::is_given("mode=lossless")) return nopscope::Mode::lossless;
    if (image::is_given("mode=flight")) return nopscope::Mode::flight;
    return image::is_given("mode=adaptive") ? nopscope::Mode::adaptive : nopscope::Mode::stream;
}

[[noreturn]] void run_line(unsigned bytes_per_second) {
    nopscope::Config config = board_config("storm");
    config.cores = used;
    config.line_bytes_per_second = bytes_per_second;
    config.input = {.try_read = hal::uart_try_read,
                    .interrupted_pc = hal::interrupted_pc,
                    .baud = hal::uart_baud(),
                    .set_baud = hal::uart_set_baud,
                    .reset = hal::reset};
    config.mode = mode();
    config.recorder = nopscope::Recorder::graph;
    if (config.mode == nopscope::Mode::adaptive)
        config.profile_memory = image::profile_memory(used);
    config.interrupt_depth = hal::interrupt_depth_of;
    config.panic = hal::panic;
    image::must(nopscope::init(config));
    hal::uart_listen(7);
    if (!start_victims()) hal::panic("storm: a core does not start");
    Random random(5);
    for (;;) {
        call_some(0, 0, calls_at_once, random);
        nopscope::pump();
    }
}

// ---- A storm of its own ----

unsigned failures;
void fail(const char* what, std::uint64_t operation) {
    if (++failures <= 20) std::printf("storm: operation %lu: %s\n", operation, what);
}

std::uint64_t word(const char* name, std::uint64_t otherwise) {
    const char* at = std::strstr(hal::command_line(), name);
    return at == nullptr ? otherwise : std::strtoull(at + std::strlen(name), nullptr, 10);
}

unsigned steady_functions;
std::uint32_t first_site;  // the storm's functions have consecutive sites
bool attached[all_ops][functions];
unsigned timeouts = 0;

bool start() {
    nopscope::Config config = board_config("storm");
    config.cores = used;
    config.output = {image::swallow, nullptr};  // recorders drop what the ring cannot hold
    // As slow as a real line: rings fill up, and most of a run is requests, not encoding.
    config.line_bytes_per_second = 300'000;
    config.interrupt_depth = hal::interrupt_depth_of;
    config.panic = hal::panic;
    config.profile_memory = image::profile_memory(used);
    image::must(nopscope::init(config));
    first_site = *nopscope::lookup(address_of(0));
    if (nopscope::attach(steady, Sites::range(first_site, steady_functions)) != Status::ok)
        return false;
    return start_victims();
}

struct Range {
    unsigned first;
    unsigned count;
    bool has(unsigned index) const { return index >= first && index - first < count; }
    Sites sites() const { return Sites::range(first_site + first, count); }
};
Range random_range(Random& random) {
    const auto first = static_cast<unsigned>(random.below(functions));
    // Mostly a few functions, sometimes all.
    const auto most = random.below(8) == 0 ? functions - first : (functions - first + 7) / 8;
    return {first, 1 + static_cast<unsigned>(random.below(most))};
}

// A timeout: the request is done, but a core did not confirm it in time. A busy emulator with fewer
// host cores may not run a core for a second. Within a minute the core must confirm.
Status settled(Status status) {
    for (unsigned tries = 0; status == Status::timeout && tries < 60; ++tries) {
        ++timeouts;
        if (nopscope::synchronize()) status = Status::ok;
    }
    return status;
}

void must_settle(Status status, std::uint64_t operation) {
    status = settled(status);
    if (status != Status::ok) fail(nopscope::describe(status), operation);
}

void one_operation(Random& random, std::uint64_t operation) {
    const auto number = static_cast<unsigned>(random.below(all_ops));
    const Range range = random_range(random);
    const auto kind = random.below(8);
    if (kind == 7) {
        const auto recorder = static_cast<Recorder>(random.below(4));
        return must_settle(nopscope::enable(recorder, range.sites()), operation);
    }
    const enum { attach, detach, filter } does = kind < 3 ? attach : kind < 6 ? detach : filter;
    bool* const own = attached[number];
    for (unsigned i = 0; i < functions; ++i) {
        if (does != detach && range.has(i)) may_see[number][i] = true;
    }
    must_settle(does == attach   ? nopscope::attach(ops[number], range.sites())
                : does == detach ? nopscope::detach(ops[number], range.sites())
                                 : nopscope::set_filter(ops[number], range.sites()),
                operation);
    for (unsigned i = 0; i < functions; ++i) {
        const bool has = range.has(i);
        own[i] = does == filter ? has : has ? does == attach : own[i];
        // From the request's return on, no other call may be seen.
        may_see[number][i] = own[i];
    }
    // This core's calls see the change at once.
    const auto index = static_cast<unsigned>(operation % functions);
    const std::uint64_t before = __atomic_load_n(&saw[number], __ATOMIC_RELAXED);
    (void)function(index)(index);
    ++called[0][0][index];
    const std::uint64_t seen = __atomic_load_n(&saw[number], __ATOMIC_RELAXED) - before;
    if (own[index] && seen == 0) fail("an attached ops missed a call", operation);
}

void check_calls() {
    std::uint64_t calls = 0;
    for (unsigned core = 0; core < used; ++core) {
        for (unsigned i = 0; i < functions; ++i) {
            const std::uint64_t made = called[core][0][i] + called[core][1][i];
            calls += made;
            if (steady_saw[core][i] == (i < steady_functions ? made : 0)) continue;
            if (++failures <= 20) {
                std::printf("storm: core %u, function %u: called %lu times, seen %lu\n", core, i,
                            made, steady_saw[core][i]);
            }
        }
        std::printf("storm: core %u: %lu interrupts\n", core, interrupts[core]);
    }
    std::printf(
        "storm: %lu calls, those of %u functions each seen once by the ops that stayed; "
        "%lu foreign\n",
        calls, steady_functions, foreign);
    if (foreign != 0) fail("an ops saw a function that it did not trace", 0);
}

// The profile has each call at most once, in the cell of its function and core.
void check_profile() {
    std::uint64_t calls = 0;
    for (std::uint32_t site = 0; site < nopscope::site_count(); ++site) {
        for (unsigned core = 0; core < used; ++core) {
            nopscope::SiteProfile profile;
            if (!nopscope::read_profile(site, core, profile)) continue;
            calls += profile.calls;
            const std::uint32_t i = site - first_site;
            const std::uint64_t made = i < functions ? called[core][0][i] + called[core][1][i] : 0;
            if (profile.calls > made) fail("the profile has a call that was not made", site);
            if (profile.calls != 0 && profile.total < profile.self)
                fail("more self than total", site);
        }
    }
    std::printf("storm: %lu calls profiled\n", calls);
}

// With nothing attached, all words are NOPs again.
void check_text() {
    for (unsigned n = 0; n < all_ops; ++n) {
        must_settle(nopscope::detach(ops[n]), n);
        if (ops[n].sites != 0) fail("detach", n);
    }
    must_settle(nopscope::disable(Sites::all()), 0);
    must_settle(nopscope::detach(steady), 0);
    if (nopscope::counters().enabled != 0) fail("the end", 0);
    nopscope::Machine machine;
    for (unsigned i = 0; i < functions; ++i) {
        const nopscope::PatchSite site = nopscope::patch_site(machine, address_of(i));
        if (machine.read_word(site.toggle()) != nopscope::arch::idle_word ||
            machine.read_word(site.setup()) != site.setup_word()) {
            fail("a word of text is not what the state says", i);
        }
    }
}

int run() {
    const std::uint64_t operations = word("operations=", 200000);
    Random random(word("seed=", 1) * 0x9e3779b97f4a7c15u | 1);
    steady_functions = static_cast<unsigned>(word("steady=", functions));
    calls_at_once = static_cast<unsigned>(word("calls=", calls_at_once));
    used = static_cast<unsigned>(word("cores=", cores));
    if (used == 0 || used > cores || hal::core_count() < used || steady_functions > functions) {
        std::printf(
            "storm: this needs cores=1..%u, so many of the machine's (-smp), and steady=0..%u\n",
            cores, functions);
        return 2;
    }
    if (const std::uint64_t rate = word("line=", 0); rate != 0)
        run_line(static_cast<unsigned>(rate));
    if (!start()) {
        std::puts("storm: cannot start");
        return 2;
    }
    for (std::uint64_t n = 0; n < operations && failures == 0; ++n) {
        one_operation(random, n);
        if (n % 16 == 0) nopscope::pump();
        if (n != 0 && n % (operations / 100 + 1) == 0) {
            std::printf("storm: %lu operations\n", n);
        }
    }
    stop_victims();
    check_calls();
    check_profile();
    check_text();
    if (timeouts != 0)
        std::printf("storm: %u times a core was not seen within a second\n", timeouts);
    std::printf("storm: %s: %lu operations\n", failures == 0 ? "passed" : "FAILED", operations);
    return failures != 0;
}

}  // namespace
}  // namespace storm

int main() { return storm::run(); }
