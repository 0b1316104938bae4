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
#include "tests/firmware/torture/sweep.hpp"
#include "tracer/core/cores.hpp"
#include "tracer/recorders/profile.hpp"

#include <stdio.h>

namespace torture {

namespace {

using nopscope::SiteProfile;

constexpr unsigned max_sites = 64;
// The cost of a call in its caller. The test sets it: it is not the real cost, but known, in whole
// ticks.
constexpr uint64_t cost_ticks = 7;

// ---- the called functions, and their charges ----

uint32_t sites[max_sites];
unsigned site_count;
// Indexes of run_inside, on_profile_landing, leap, shared.
unsigned outermost, handler, leaper, leaf;

struct Charge {
    uint64_t calls, self, total, events_self, events_total;
};
Charge without[max_sites], with[max_sites], landing[max_sites], before[max_sites];
uint64_t slack_ticks;

void read(Charge* all) {
    for (unsigned i = 0; i < site_count; ++i) {
        SiteProfile one;
        nopscope::read_profile(sites[i], 0, one);
        nopscope::SiteEvents events{};
        (void)nopscope::read_profile_events(sites[i], 0, events);
        all[i] = {one.calls, one.self, one.total, events.self[0], events.total[0]};
    }
}
void start() { read(before); }
// The charges since start().
void take(Charge* all) {
    read(all);
    for (unsigned i = 0; i < site_count; ++i) {
        all[i].calls -= before[i].calls;
        all[i].self -= before[i].self;
        all[i].total -= before[i].total;
        all[i].events_self -= before[i].events_self;
        all[i].events_total -= before[i].events_total;
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
        if (is(site, shared)) leaf = site_count;
        sites[site_count++] = site;
    }
}

// ---- one run ----

Path of_profile[] = {SWEEP_PATH(profile_hook), SWEEP_PATH(profile_entry)};
Path of_overflow[] = {SWEEP_PATH(profile_hook), SWEEP_PATH(graph_full), SWEEP_PATH(profile_found)};
Path of_events[] = {SWEEP_PATH(profile_events_hook), SWEEP_PATH(profile_events_entry)};

constexpr Callee callees[] = {
    {"landing", torture_landing}, {"tail", torture_tail}, {"nested", torture_nested},
    {"leaping", torture_leaping}, {"shared", shared},
};

void complain(const Run& run, const char* what, unsigned function, int64_t value) {
    torture::complain(run, what);
    torture::complain("  in %#lx: %ld", nopscope::site(sites[function]).address,
                      static_cast<long>(value));
}

// Charges of a call without an interrupt, and of an interrupt without a call.
void measure(const Run& run) {
    start();
    if (const char* wrong = make_call(run)) torture::complain(run, wrong);
    take(without);
}
void measure_landing() {
    start();
    const uint32_t landed = landings;
    hal::timer_arm(hal::clock() + hal::clock_hz() / 10000);
    while (landings == landed) hal::fetch_barrier();
    take(landing);
}

// The self time may be too long on one function, by less than the handler's: the ways in and out,
// and the switches of tasks.
// run_inside also waits, and so does leap, which longjmp may skip at any time.
void check_self(const Run& run) {
    const auto ways =
        static_cast<int64_t>(landing[handler].total / (task_calls != 0 ? 1 : handler_per_ways));
    // A call that is the lowest, or is no longer, takes another way in the recorder.
    const bool is_seen = calls_are_lowest && instructions_a_tick() == 1;
    const auto slack = static_cast<int64_t>(slack_ticks) + (is_seen ? 32 : 0);
    unsigned longer = 0;
    for (unsigned i = 0; i < site_count; ++i) {
        if (i == outermost || (run.abandoned && i == leaper)) continue;
        const auto more = static_cast<int64_t>(with[i].self - without[i].self - landing[i].self);
        if (more < -slack || more > ways) complain(run, "self is wrong", i, more);
        longer += more > slack;
    }
    if (longer > 1) complain(run, "self is longer on several functions", 0, longer);
}

// The functions' own add up to the outermost total, or to that and the interrupt's.
void check_own(const Run& run, const char* what, uint64_t own, uint64_t inside,
               uint64_t interrupt) {
    if (own == inside || (landed_after && own == inside + interrupt)) return;
    complain(run, what, outermost, static_cast<int64_t>(own - inside));
}
// shared() calls nothing: its total is its self time, and the interrupt's if that came in it.
void check_leaf(const Run& run) {
    const uint64_t below = with[leaf].total - with[leaf].self;
    if (below != 0 && below != with[handler].total + cost_ticks)
        complain(run, "total is wrong", leaf, static_cast<int64_t>(below));
}
const char* finish(const Run& run) {
    take(with);
    uint64_t self = 0, events = 0, all_calls = 0;
    for (unsigned i = 0; i < site_count; ++i) {
        self += with[i].self;
        events += with[i].events_self;
        all_calls += with[i].calls;
        const uint64_t more = with[i].calls - without[i].calls - landing[i].calls;
        if (more != 0) complain(run, "calls are wrong", i, static_cast<int64_t>(more));
    }
    // Each call except an outermost one takes its cost off its caller. With another task, totals
    // include its time.
    if (task_calls == 0) {
        check_own(run, "self does not add up", self,
                  with[outermost].total - cost_ticks * (all_calls - 1),
                  with[handler].total + cost_ticks);
        check_leaf(run);
    }
    check_own(run, "events do not add up", events, with[outermost].events_total,
              with[handler].events_total);
    check_self(run);
    return nullptr;
}

void start_profile(bool adaptive) {
    nopscope::Config config = board_config("profile_sweep");
    config.mode = adaptive ? nopscope::Mode::adaptive : nopscope::Mode::lossless;
    config.profile_memory = image::profile_memory(1);
    config.calibrate = false;
    image::start_tracer(config);
    nopscope::profile_memory.set_cost(cost_ticks << nopscope::profiled_shift);
    nopscope::all_cores()[0].profile_cost = nopscope::profile_memory.cost();
}

int run() {
    const bool adaptive = image::is_given("adaptive=1"), counts = image::is_given("events=1");
    start_profile(adaptive);
    const unsigned tick = instructions_a_tick();
    slack_ticks = cost_ticks + 24 / tick + (tick == 1 ? 2 : 8);  // several roundings
    must(nopscope::enable(adaptive ? Recorder::graph : Recorder::profile, Sites::all()));
    if (counts) {
        constexpr uint16_t events[] = {0x08, 0x11};  // INST_RETIRED, CPU_CYCLES
        must(nopscope::count_events(events));
    }
    if (adaptive) {
        while (nopscope::counters().overflowed == 0) shared();  // without a pump
    }
    SweepPlan plan{adaptive ? std::span<Path>(of_overflow) : of_profile,
                   callees,
                   start,
                   finish,
                   measure,
                   on_profile_landing};
    if (counts) plan.paths = of_events;
    start_sweep(plan);
    for (const Callee& callee : callees) {
        for (const bool abandoned : {false, true}) measure({callee, abandoned});
    }
    measure_landing();
    find_sites();
    measure_landing();
    sweep_all("profile", true);
    printf("profile_sweep: %u functions\n", site_count);
    return end_sweep("profile_sweep");
}

}  // namespace
}  // namespace torture

int main() { nopscope::hal::exit(torture::run()); }
