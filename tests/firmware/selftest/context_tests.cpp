// SPDX-License-Identifier: Apache-2.0
// Tasks with their own stacks. They switch in the middle of traced calls.
#include "tests/firmware/selftest/tracing.hpp"

#include <cstring>

#include "tracer/core/cores.hpp"

namespace {

std::uint64_t main_sp;
Task* running;
unsigned rounds;
std::uint64_t linger_ticks;  // each task spends them before it ends
bool wrong;

// Switches from a task to the other one if it is not done, else to main.
void give_way() {
    Task* const from = running;
    Task* to = from == &tasks[0] ? &tasks[1] : &tasks[0];
    if (to->done) to = nullptr;
    running = to;
    const hal::InterruptsMasked masked;
    wrong |= !is_ok(context_switch(to != nullptr ? to->context : main_context()));
    switch_stacks(from != nullptr ? &from->sp : &main_sp, to != nullptr ? to->sp : main_sp);
}
void give_way_twice() {
    give_way();
    (void)leaf(1);
    give_way();
}

// Both tasks share the longjmp buffer: neither switches between setjmp and longjmp.
void run_task() {
    Task& self = *running;
    hal::enable_interrupts();
    for (unsigned round = 0; round < rounds; ++round) {
        calls_back([] { calls_back(give_way); });
        wrong |= sum_to(round % 8) != round % 8 * (round % 8 + 1) / 2;
        wrong |= catches(round % 4) != round % 4 + 1;
        calls_back(give_way_twice);
        wrong |= calls_leaf(round) != round + 2;
    }
    wait_ticks(linger_ticks);
    self.done = true;
    give_way();
}

bool create_tasks() {
    if (!tasks[0].create(run_task) || !tasks[1].create(run_task)) return false;
    running = nullptr;
    wrong = false;
    return true;
}

// True: every return closes the innermost open call of the running context. With `all` false, not
// all switches are recorded, and a return may close another context's innermost call.
bool nests(std::span<const protocol::Event> events, unsigned& switches, bool all = true) {
    static std::uint32_t open[3][64];
    unsigned depth[3] = {};
    unsigned at = 0;
    std::uint32_t numbers[3] = {0, tasks[0].context.number, tasks[1].context.number};
    for (const protocol::Event& event : events) {
        const auto index = static_cast<std::uint32_t>(event.index) & protocol::entry_index_mask;
        if (event.kind == Kind::extended) {
            if (!all && event.argument == protocol::several_contexts) continue;
            for (at = 0; at < 3 && numbers[at] != event.argument;) ++at;
            if (at == 3) return false;
            ++switches;
        } else if (event.kind == Kind::entry) {
            open[at][depth[at]++] = index;
        } else if (event.kind == Kind::ret) {
            const auto closes = [&](unsigned in) {
                return depth[in] != 0 && open[in][depth[in] - 1] == event.entry_index;
            };
            for (unsigned in = 0; !all && !closes(at) && in < 3; ++in) {
                if (closes(in)) at = in;
            }
            if (!closes(at)) return false;
            --depth[at];
        }
    }
    return depth[0] == 0 && depth[1] == 0 && depth[2] == 0;
}

bool begin() { return only_traced(Recorder::graph, Sites::of(traced)); }

}  // namespace

SELFTEST("contexts.each_has_its_calls_and_interrupts") {
    constexpr unsigned timer = hal::timer_interrupt;
    static unsigned interrupts;
    REQUIRE(begin() && create_tasks());
    interrupts = 0;
    rounds = 300;
    hal::set_handler(timer, 8, [](unsigned) {
        ++interrupts;
        (void)calls_leaf(1);
        hal::timer_arm(hal::clock() + hal::clock_hz() / 20000);
    });
    hal::timer_arm(hal::clock());
    const Recording recording = record([] {
        calls_back(give_way);
        while (*static_cast<volatile unsigned*>(&interrupts) <= 3) {
        }
        hal::disable_interrupt(timer);  // else they continue while the ring is emptied
    });
    unsigned switches = 0;
    REQUIRE(!wrong && recording.well_formed && nests(recording.events, switches));
    REQUIRE(tasks[0].done && tasks[1].done && running == nullptr);
    REQUIRE(switches == 2 * 3 * 300 + 3 && interrupts > 3 && grown(&Counters::off_stack) == 0);
}

// The ring fills up in the middle. The recorded events still nest.
SELFTEST("contexts.a_full_ring_confuses_nothing") {
    REQUIRE(begin() && create_tasks());
    rounds = 1000;
    const Recording recording = record([] {
        shut_line(true);
        calls_back(give_way);
        shut_line(false);
        calls_leaf(1);
        pump();
        calls_leaf(1);
    });
    unsigned switches = 0;
    REQUIRE(!wrong && recording.well_formed && grown(&Counters::dropped) != 0);
    REQUIRE(nests(recording.events, switches, false) && switches > 100);
    // The last events are main's, after the pump.
    REQUIRE(is_of(recording.events[recording.events.size() - 4], pointer(calls_leaf)));
    std::uint32_t said = 1;  // the last context
    for (const protocol::Event& event : recording.events)
        if (event.kind == Kind::extended) said = event.argument;
    REQUIRE(said == 0);
}

// The ops is detached while two of the task's calls are open.
SELFTEST("contexts.callbacks_are_detached_from_them") {
    REQUIRE(nothing_traced() && create_tasks());
    REQUIRE(is_ok(attach(counting_exits, Sites::of(back_only))));
    exits = 0;
    rounds = 1;
    tasks[1].done = true;
    give_way();
    REQUIRE(!wrong && !tasks[0].done && is_ok(detach(counting_exits)));
    while (!tasks[0].done) give_way();
    REQUIRE(!wrong && exits == 0);
}

// As an interrupt would switch tasks: in a callback.
namespace {
unsigned seen;
bool preempts;
void preempted(std::uint64_t, std::uint64_t, Ops*, Regs*) {
    ++seen;
    if (std::exchange(preempts, false)) give_way();
}

// Returns what detach() says while task 0 is inside the callback of `ops`, and then when it is not.
std::pair<Status, Status> detach_from_below(Ops& ops) {
    if (!nothing_traced() || !create_tasks() || !is_ok(attach(ops, Sites::of(leaf_only))))
        return {};
    seen = 0;
    preempts = true;
    rounds = 1;
    tasks[1].done = true;
    while (preempts) give_way();  // until task 0 is inside
    (void)leaf(1);
    const Status inside = detach(ops);
    while (!tasks[0].done) give_way();
    return {inside, detach(ops)};
}
}  // namespace

SELFTEST("contexts.a_callback_belongs_to_its_task") {
    static Ops guarded{.func = preempted}, unguarded{.func = preempted, .flags = ops_unguarded};
    for (Ops* const ops : {&guarded, &unguarded}) {
        const auto [inside, outside] = detach_from_below(*ops);
        REQUIRE(inside == Status::timeout && outside == Status::ok);
        // Task 0's first call, and main's while that is inside.
        REQUIRE(!wrong && seen == 2 && grown(&Counters::recursions) == 0);
    }
}

// As if a task had been destroyed in a callback, or while it worked for the tracer.
SELFTEST("contexts.begin_anew_in_old_storage") {
    for (Task& task : tasks) {
        std::memset(static_cast<void*>(&task.context), 1, sizeof task.context);
        task.context.frames = nullptr;
    }
    REQUIRE(begin() && create_tasks() && is_ok(attach(counting_exits, Sites::of(back_only))));
    exits = 0;
    rounds = 2;
    const Recording recording = record([] { calls_back(give_way); });
    REQUIRE(!wrong && recording.well_formed && exits == 1 + 2 * 2 * 3);
    for (const protocol::Event& event : recording.events)
        REQUIRE(event.kind != Kind::extended || event.extended == Extended::context);
}

// The callbacks see the SPs of the calls that all recorders hook.
namespace {
std::uint64_t seen_lowest[2];
ReturnOps looking(
    [](std::uint64_t, std::uint64_t, ReturnOps*, Regs* regs, CallData*) {
        if (running != nullptr && regs->sp < seen_lowest[running - tasks])
            seen_lowest[running - tasks] = regs->sp;
        return true;
    },
    [](std::uint64_t, std::uint64_t, ReturnOps*, ReturnRegs*, CallData*) {});

// Runs new tasks. True: the tracer says the same of their stacks.
bool knows_lowest_sps() {
    if (!create_tasks()) return false;
    bool same = true;
    for (const Task& task : tasks) same &= task.context.lowest_sp == task.context.stack_high;
    give_way();
    for (unsigned n = 0; n < 2; ++n)
        same &= tasks[n].done && tasks[n].context.lowest_sp == seen_lowest[n];
    return same && !wrong;
}
}  // namespace

SELFTEST("contexts.know_their_lowest_sp") {
    // profile_tests.cpp wants the others without a profiled call.
    static const void* const not_leaf[] = {pointer(sum_to), pointer(throws), pointer(catches),
                                           pointer(calls_back)};
    rounds = 10;
    seen_lowest[0] = seen_lowest[1] = ~std::uint64_t{0};
    REQUIRE(nothing_traced() && is_ok(attach(looking, Sites::of(not_leaf))));
    REQUIRE(knows_lowest_sps());
    REQUIRE(tasks[0].context.stack_high - seen_lowest[0] < 4'384);
    for (const Recorder recorder : {Recorder::graph, Recorder::profile, Recorder::duration})
        REQUIRE(only_traced(recorder, Sites::of(not_leaf)) && knows_lowest_sps());
}

SELFTEST("contexts.time_away_is_nobodys_own_in_the_profile") {
    // An emulator that pauses adds to some function's own time now and then.
    bool nobodys = false;
    for (unsigned tries = 0; !nobodys && tries < 10; ++tries) {
        REQUIRE(only_traced(Recorder::profile, Sites::of(back_only)) && create_tasks());
        const SiteProfile before = profile_of(pointer(calls_back));
        rounds = 0;
        linger_ticks = hal::clock_hz() / 1000;
        calls_back(give_way);
        const std::uint64_t away = 2 * std::exchange(linger_ticks, 0);
        const SiteProfile after = profile_of(pointer(calls_back));
        REQUIRE(after.calls == before.calls + 1 && after.total - before.total >= away && !wrong);
        nobodys = after.self - before.self < (after.total - before.total) / 4;
    }
    REQUIRE(nobodys);
}

// A task is switched out in the middle of a call, and never continues.
SELFTEST("contexts.destroyed_with_open_calls") {
    REQUIRE(begin() && create_tasks() && is_ok(attach(counting_exits, Sites::of(back_only))));
    tasks[1].done = true;
    rounds = 1;
    const Recording recording = record([] {
        calls_back(give_way);  // returns from within two calls of the task
        wrong |= !is_ok(context_destroy(tasks[0].context));
    });
    REQUIRE(!wrong && !tasks[0].done && recording.events.size() == 10);
    REQUIRE(recording.unwound() == 2);
}

// Their durations are records that a full ring has no room for.
SELFTEST("contexts.destroyed_with_open_calls_while_the_ring_is_full") {
    REQUIRE(only_traced(Recorder::duration, Sites::of(traced)) && create_tasks());
    Core& core = core_states[hal::this_core()];
    core.lossless = 1;  // after finish(), set_mode() changes nothing
    tasks[1].done = true;
    rounds = 1;
    const Recording recording = record([] {
        give_way();  // returns from within two calls of the task
        shut_line(true);
        fill_ring();
        shut_line(false);
        wrong |= !is_ok(context_destroy(tasks[0].context));
    });
    core.lossless = 0;
    REQUIRE(!wrong && recording.well_formed);
    const auto ends = [](const protocol::Event& event) { return is(event, Extended::duration); };
    REQUIRE(grown(&Counters::dropped) == 0 && recording.count(ends) == 2);
}

SELFTEST("contexts.misuse_is_refused") {
    static Context small, big;
    static ContextFrame frames[(1 << NOPSCOPE_RING_LOG2) / 8 / 2];  // returns in half a ring
    REQUIRE(begin() && create_tasks());
    REQUIRE(context_create(small, std::span(frames, 1), 0, 64) == Status::bad_config);
    REQUIRE(context_create(tasks[0].context, frames, 0, 64) == Status::bad_config);
    REQUIRE(context_switch(small) == Status::conflict &&
            context_destroy(small) == Status::bad_config);
    REQUIRE(context_create(big, frames, 0, 64) == Status::ring_too_small);
    // Each ring has room for the returns of all contexts' calls.
    const std::size_t room = ring_bytes / 2 / record_bytes - shadow_frames - 64;
    const std::size_t both = 2 * (std::size(tasks[0].frames) - 1);
    REQUIRE(context_create(big, std::span(frames, room - both + 2), 0, 64) ==
            Status::ring_too_small);
    REQUIRE(is_ok(context_create(big, std::span(frames, room - both + 1), 0, 64)));
    REQUIRE(context_create(small, std::span(frames, 2), 0, 64) == Status::ring_too_small);
    REQUIRE(is_ok(context_destroy(big)) && is_ok(context_switch(main_context())));
    {
        const hal::InterruptsMasked masked;
        REQUIRE(is_ok(context_switch(tasks[0].context)));
        REQUIRE(context_destroy(tasks[0].context) == Status::conflict);
        REQUIRE(is_ok(context_switch(main_context())));
    }
}

SELFTEST_OF_CORES("contexts.run_on_one_core_at_a_time") {
    static Status elsewhere, destroyed;
    REQUIRE(begin() && create_tasks());
    REQUIRE(is_ok(context_switch(tasks[0].context)));
    elsewhere = destroyed = Status::conflict;
    on_other_cores([](unsigned core) {
        if (core != 1 || !joined_here()) return;
        elsewhere = context_switch(tasks[0].context);
        destroyed = context_destroy(tasks[0].context);
    });
    REQUIRE(workers_done() && is_ok(context_switch(main_context())));
    REQUIRE(elsewhere == Status::conflict && destroyed == Status::conflict);
}
