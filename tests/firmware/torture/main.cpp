// SPDX-License-Identifier: Apache-2.0
// The torture's driver. It runs all cases at all levels: first untraced, before init(), and then
// traced in each way, with interrupts all the time. It compares the digests. Not instrumented.
// Prints a line for each round. Exit status 0: no difference.
//
// Command-line word: `seed=N`.
#include "tests/firmware/image.hpp"
#include "tests/firmware/torture/registers.hpp"
#include "tests/firmware/torture/torture.hpp"

#include <stdio.h>

namespace hal = nopscope::hal;

namespace torture {

volatile uint32_t interrupts[4];

namespace {

using image::must;
using nopscope::Recorder;
using nopscope::Sites;

// How the cases are traced. `changes`: some sites get another recorder before the cases, or in the
// middle of them.
struct Way {
    const char* name;
    Recorder recorder = Recorder::none;
    enum { never, before, meanwhile } changes = never;
};
constexpr Way untraced = {"untraced"};
constexpr Way ways[] = {{"idle"},
                        {"function", Recorder::function},
                        {"graph", Recorder::graph},
                        {"profile", Recorder::profile},
                        {"mixed", Recorder::profile, Way::before},
                        {"toggled", Recorder::graph, Way::meanwhile}};

constexpr unsigned max_cases = 40;
const Suite* const suites[] = {&O0::suite, &O2::suite, &Os::suite};
uint64_t expected[max_cases];  // from the first suite, untraced; equal for all levels
bool is_tracing;               // else init() has not run yet
volatile bool toggling;
uint64_t toggle_state;
uint64_t seed = 2;

uint64_t random() { return toggle_state = draw(toggle_state, 1); }

// Switches some sites to another recorder, or disables them.
void switch_some() {
    const uint32_t sites = nopscope::counters().sites;
    const auto range = Sites::range(static_cast<uint32_t>(random() % sites),
                                    static_cast<uint32_t>(random() % (sites / 4)));
    constexpr Recorder recorders[] = {Recorder::none, Recorder::function, Recorder::graph,
                                      Recorder::profile};
    must(nopscope::enable(recorders[random() % 4], range));
}

void prepare(const Way& way) {
    must(nopscope::enable(way.recorder, Sites::all()));
    for (unsigned n = 0; way.changes == Way::before && n < 24; ++n) switch_some();
    toggling = way.changes == Way::meanwhile;
}

// After a case no call is open. The next hooked call pops the calls that longjmp abandoned.
void expect_nothing_open(const Way& way) {
    if (!is_tracing || way.changes != Way::never) return;
    torture_landing();
    if (nopscope::hooked_return_address(0) != 0) complain("a hooked call is still open");
}

void run_case(const Way& way, const Suite& suite, const Case& one, uint64_t& known) {
    const uint64_t digest = one.run(seed);
    if (!is_tracing && &suite == suites[0]) {
        known = digest;
    } else if (digest != known) {
        complain("%s %s %s: %016lx, must be %016lx", way.name, suite.level, one.name, digest,
                 known);
    }
    expect_nothing_open(way);
}

void check_registers_too(const Way& way) {
    void (*const functions[])() = {torture_landing, torture_tail, torture_nested, torture_leaping};
    for (unsigned n = 0; n < 256; ++n) {
        const char* wrong = check_registers(functions[n % 4], draw(seed, n), 16 * (n / 4 % 8));
        if (wrong != nullptr) complain("%s: %s is wrong", way.name, wrong);
    }
    expect_nothing_open(way);
}

void run_suite(const Way& way, const Suite& suite) {
    const uint32_t before[] = {interrupts[0], interrupts[1], interrupts[2], interrupts[3]};
    if (is_tracing) {
        prepare(way);
        suite.start_interrupts(seed + static_cast<unsigned>(&way - ways));
    }
    unsigned known = 0;
    for (const auto& cases : {suite.calls, suite.flow}) {
        for (const Case& one : cases) run_case(way, suite, one, expected[known++]);
    }
    check_registers_too(way);
    // If a machine's timer is late, like an emulator's without -icount, wait until one has come.
    for (unsigned n = 0; n < 1000 && is_tracing && interrupts[2] == before[2]; ++n) {
        check_registers_too(way);
    }
    suite.stop_interrupts();
    toggling = false;
    if (!is_tracing) return;  // the line has no frames yet
    printf("torture: %-8s %s: %u cases; interrupts %u, nested %u + %u, late %u; failures %u\n",
           way.name, suite.level, known, interrupts[0] - before[0], interrupts[1] - before[1],
           interrupts[2] - before[2], interrupts[3] - before[3], failures);
    if (interrupts[0] == before[0] || interrupts[2] == before[2]) complain("no interrupt came");
}

nopscope::Config config() {
    nopscope::Config config = board_config("torture");
    config.mode = nopscope::Mode::lossless;
    config.profile_memory = image::profile_memory(config.cores);
    return config;
}

int run() {
    if (const char* word = strstr(hal::command_line(), "seed=")) {
        seed = strtoul(word + 5, nullptr, 0);
    }
    toggle_state = seed;
    hal::enable_interrupts();
    for (const Suite* suite : suites) run_suite(untraced, *suite);

    image::start_tracer(config());
    is_tracing = true;
    hal::set_return_hook(
        {nopscope::is_return_hook, nopscope::hooked_return_address_of, nopscope::is_entry_code});
    printf("torture: %u sites, seed %lu; untraced: failures %u\n", nopscope::counters().sites, seed,
           failures);
    for (const Way& way : ways) {
        for (const Suite* suite : suites) run_suite(way, *suite);
    }

    must(nopscope::enable(Recorder::graph, Sites::all()));
    expect_nothing_open(untraced);
    must(nopscope::disable(Sites::all()));
    hal::disable_interrupts();
    expect_nothing_lost();
    printf("torture: %lu records\n", nopscope::counters().generated);
    return end("torture");
}

}  // namespace

void toggle() {
    if (toggling) switch_some();
}

}  // namespace torture

int main() { nopscope::hal::exit(torture::run()); }
