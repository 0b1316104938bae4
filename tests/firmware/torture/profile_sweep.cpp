// SPDX-License-Identifier: Apache-2.0
// The sweep of the profile recorder: a profiled interrupt on each instruction of its entry and its
// hook, as in sweep.cpp. After each run it checks the sums: no call is lost, and the interrupt's
// time is in no self time of an interrupted function.
//
// It measures each way to call once without an interrupt, and the interrupt once without a call.
// The calls of a run must be the sum of both, exactly. So must self times, except that one function
// may have the way into the handler and back, which no profiled function has. The test sets the
// cost of recording a call to a few ticks of its caller; the sum of self times must lack exactly
// these.
//
// events=1: counts PMU events, too; the same must hold for them. adaptive=1: the graph recorder in
// adaptive mode with a full ring; the sums must be the same.
#include "nopscope/events.hpp"
#include "tests/firmware/image.hpp"
#include "tests/firmware/torture/registers.hpp"
#include "tests/firmware/torture/sweep.hpp"
#include "tests/firmware/torture/torture.hpp"
#include "tracer/core/cores.hpp"
#include "tracer/recorders/profile.hpp"

#include <stdio.h>

extern "C" const char nopscope_profile_entry[], nopscope_profile_entry_end[],
    nopscope_profile_hook[], nopscope_profile_hook_end[], nopscope_graph_full[],
    nopscope_graph_full_end[], nopscope_profile_found[], nopscope_profile_found_end[],
    nopscope_profile_events_entry[], nopscope_profile_events_entry_end[],
    nopscope_profile_events_hook[], nopscope_profile_events_hook_end[];

namespace hal = nopscope::hal;

namespace torture {

namespace {

using nopscope::SiteProfile;
using nopscope::Sites;

volatile unsigned failures;
constexpr unsigned max_sites = 64;
// The cost of a call in its caller. The test sets it: it is not the real cost, but known, in whole
// ticks.
constexpr uint64_t cost_ticks = 7;

// ---- the called functions, and their charges ----

uint32_t sites[max_sites];
unsigned site_count;
unsigned outermost, handler, leaper;  // indexes of run_inside, on_profile_landing, leap

struct Charge {
    uint64_t calls[max_sites];
    uint64_t self[max_sites];
    uint64_t total[max_sites];
    uint64_t events_self[max_sites];
    uint64_t events_total[max_sites];
};

void read(Charge& charge) {
    SiteProfile one;
    for (unsigned i = 0; i < site_count; ++i) {
        nopscope::read_profile(sites[i], 0, one);
        charge.calls[i] = one.calls;
        charge.self[i] = one.self;
        charge.total[i] = one.total;
        nopscope::SiteEvents events{};
        (void)nopscope::read_profile_events(sites[i], 0, events);
        charge.events_self[i] = events.self[0];
        charge.events_total[i] = events.total[0];
    }
}
// The charges since `before`.
void take(Charge& charge, const Charge& before) {
    read(charge);
    for (unsigned i = 0; i < site_count; ++i) {
        charge.calls[i] -= before.calls[i];
        charge.self[i] -= before.self[i];
        charge.total[i] -= before.total[i];
        charge.events_self[i] -= before.events_self[i];
        charge.events_total[i] -= before.events_total[i];
    }
}
// Finds all functions that were called so far.
void find_sites() {
    SiteProfile one;
    const auto is = [](uint32_t site, auto* function) {
        return nopscope::site(site).address == reinterpret_cast<uint64_t>(function);
    };
    for (uint32_t site = 0; site < nopscope::site_count(); ++site) {
        if (!nopscope::read_profile(site, 0, one) || one.calls == 0) continue;
        if (site_count == max_sites) hal::panic("profile_sweep: too many functions");
        if (is(site, run_inside)) outermost = site_count;
        if (is(site, on_profile_landing)) handler = site_count;
        if (is(site, leap)) leaper = site_count;
        sites[site_count++] = site;
    }
}

// ---- one run ----

Path of_profile[] = {
    {"profile_hook", nopscope_profile_hook, nopscope_profile_hook_end},
    {"profile_entry", nopscope_profile_entry, nopscope_profile_entry_end},
};
Path of_overflow[] = {
    {"profile_hook", nopscope_profile_hook, nopscope_profile_hook_end},
    {"graph_full", nopscope_graph_full, nopscope_graph_full_end},
    {"profile_found", nopscope_profile_found, nopscope_profile_found_end},
};
Path of_events[] = {
    {"profile_events_hook", nopscope_profile_events_hook, nopscope_profile_events_hook_end},
    {"profile_events_entry", nopscope_profile_events_entry, nopscope_profile_events_entry_end},
};
std::span<Path> paths = of_profile;

constexpr Callee callees[] = {
    {"landing", torture_landing}, {"tail", torture_tail}, {"nested", torture_nested},
    {"leaping", torture_leaping}, {"shared", shared},
};

struct Run {
    const Callee& callee;
    bool abandoned;
};

void complain(const Run& run, const char* what, uint32_t site, uint64_t value) {
    failures = failures + 1;
    if (failures > 20) return;
    printf("profile_sweep: %s%s, delay %lu + %lu, interrupt at %#lx: %s, %#lx, %ld\n",
           run.callee.name, run.abandoned ? " after a longjmp" : "",
           static_cast<unsigned long>(torture_delay), static_cast<unsigned long>(torture_phase),
           static_cast<unsigned long>(landed_at), what,
           static_cast<unsigned long>(nopscope::site(site).address), static_cast<long>(value));
}

const char* call_once(const void* argument) {
    const Run& run = *static_cast<const Run*>(argument);
    use_frames();
    if (run.abandoned) abandon_frames();
    torture_returned.sp = 0;
    forget_lowest();
    if (run.callee.function != shared) {
        const char* wrong = check_registers(run.callee.function, torture_delay, 0);
        return wrong != nullptr ? wrong : check_lowest();
    }
    torture_call_registers(shared, 0);
    return nullptr;
}

Charge without, with, landing, before;
uint64_t slack_ticks;

// Charges of a call without an interrupt, and of an interrupt without a call.
void measure(const Run& run) {
    torture_delay = 0;
    read(before);
    if (run_inside(call_once, &run) != nullptr) complain(run, "a register", 0, 0);
    take(without, before);
}
void measure_landing() {
    read(before);
    const uint32_t landed = landings;
    hal::timer_arm(hal::clock() + hal::clock_hz() / 10000);
    while (landings == landed) asm volatile("isb" ::: "memory");
    take(landing, before);
}

// The self time may be too long on one function, by less than the handler's: the ways in and out,
// and the switches of tasks.
// run_inside also waits, and so does leap, which longjmp may skip at any time.
void check_self(const Run& run) {
    const auto ways = static_cast<int64_t>(landing.total[handler] / (task_calls != 0 ? 1 : 2));
    unsigned longer = 0;
    for (unsigned i = 0; i < site_count; ++i) {
        if (i == outermost || (run.abandoned && i == leaper)) continue;
        const auto more = static_cast<int64_t>(with.self[i] - without.self[i] - landing.self[i]);
        const auto slack = static_cast<int64_t>(slack_ticks);
        if (more < -slack || more > ways) {
            complain(run, "self is wrong", sites[i], static_cast<uint64_t>(more));
        }
        longer += more > slack;
    }
    if (longer > 1) complain(run, "self is longer on several functions", sites[0], longer);
}

void check_events(const Run& run) {
    uint64_t self = 0;
    for (unsigned i = 0; i < site_count; ++i) self += with.events_self[i];
    const uint64_t inside = with.events_total[outermost], all = inside + with.events_total[handler];
    if (self != inside && !(landed_after && self == all)) {
        complain(run, "events of their own do not add up to the outermost total", sites[outermost],
                 self - inside);
    }
}
void check_sums(const Run& run) {
    uint64_t self = 0, all_calls = 0;
    for (unsigned i = 0; i < site_count; ++i) {
        self += with.self[i];
        all_calls += with.calls[i];
        const uint64_t calls = without.calls[i] + landing.calls[i];
        if (with.calls[i] != calls)
            complain(run, "calls are wrong", sites[i], with.calls[i] - calls);
    }
    // Each call except an outermost one takes its cost off its caller.
    if (task_calls != 0) return;  // totals include the time of the other task
    const uint64_t inside = with.total[outermost] - cost_ticks * (all_calls - 1);
    const uint64_t all = inside + with.total[handler] + cost_ticks;
    if (self != inside && !(landed_after && self == all)) {
        complain(run, "self does not add up to the outermost total", sites[outermost],
                 self - inside);
    }
}

// True: the interrupt came after the call.
bool run_once(const void* argument) {
    const Run& run = *static_cast<const Run*>(argument);
    const uint32_t landed = landings;
    read(before);
    if (run_inside(call_once, &run) != nullptr) complain(run, "a register", 0, 0);
    for (unsigned turns = 0; turns < 100000 && landings == landed; ++turns) {
        asm volatile("isb" ::: "memory");
    }
    if (landings != landed + 1) complain(run, "not one interrupt", 0, landings - landed);
    take(with, before);
    if (nopscope::hooked_return_address(0) != 0) complain(run, "a call is still open", 0, 0);
    check_sums(run);
    check_events(run);
    check_self(run);
    note_landing(paths);
    return landed_after;
}

unsigned sweep(const Run& run) {
    measure(run);
    const unsigned runs = sweep_delays(run_once, &run);
    if (runs == 0) complain(run, "the interrupt never came after the call", 0, 0);
    return runs;
}

void start(bool adaptive) {
    nopscope::Config config = board_config("profile_sweep");
    config.mode = adaptive ? nopscope::Mode::adaptive : nopscope::Mode::lossless;
    config.profile_memory = image::profile_memory(1);
    config.calibrate = false;
    image::start_tracer(config);
    nopscope::profile_memory.set_cost(cost_ticks << nopscope::profiled_shift);
    nopscope::all_cores()[0].profile_cost = nopscope::profile_memory.cost();
    hal::set_handler(hal::virtual_timer_interrupt, 8, on_profile_landing);
    start_other_task();
    hal::enable_interrupts();
}

int run() {
    const bool adaptive = image::is_given("adaptive=1");
    start(adaptive);
    const auto tick = static_cast<unsigned>(1000000000 / hal::clock_hz());
    slack_ticks = cost_ticks + 24 / tick + (tick == 1 ? 2 : 8);  // several roundings
    const auto recorder = adaptive ? nopscope::Recorder::graph : nopscope::Recorder::profile;
    image::must(nopscope::enable(recorder, Sites::all()));
    if (image::is_given("events=1")) {
        constexpr uint16_t events[] = {0x08, 0x11};  // INST_RETIRED, CPU_CYCLES
        image::must(nopscope::count_events(events));
        paths = of_events;
    }
    if (adaptive) {
        paths = of_overflow;
        while (nopscope::counters().overflowed == 0) shared();  // without a pump
    }
    for (const Callee& callee : callees) {
        for (const bool abandoned : {false, true}) measure({callee, abandoned});
    }
    measure_landing();
    find_sites();
    measure_landing();
    unsigned runs = 0;
    for (const Callee& callee : callees) {
        for (const bool abandoned : {false, true}) runs += sweep({callee, abandoned});
    }
    torture_delay = 0;
    image::must(nopscope::disable(Sites::all()));
    hal::disable_interrupts();
    failures = failures + report_hits("profile_sweep", paths);
    const nopscope::Counters counters = nopscope::counters();
    if (counters.dropped + counters.shadow_stack_full + counters.off_stack != 0)
        fail(__FILE__, __LINE__);
    printf("profile_sweep: %s: %u runs of %u functions, %u failures\n",
           failures == 0 ? "passed" : "FAILED", runs, site_count, failures);
    fflush(stdout);
    nopscope::finish();
    return failures == 0 ? 0 : 1;
}

}  // namespace

void fail(const char* file, unsigned line) {
    failures = failures + 1;
    if (failures > 20) return;
    printf("profile_sweep: an invariant failed, %s:%u\n", file, line);
}

}  // namespace torture

int main() { nopscope::hal::exit(torture::run()); }
