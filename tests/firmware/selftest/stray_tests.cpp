// SPDX-License-Identifier: Apache-2.0
// Calls of tasks whose contexts may not run here, or that the tracer does not know.
#include "tests/firmware/selftest/tracing.hpp"

#include "tests/firmware/selftest/machine.hpp"
#include "tests/firmware/selftest/ring_words.hpp"
#include "tracer/core/here.hpp"

namespace {

bool wrong;

// run_stray()'s task: it switches away within open calls, and continues where its context may not
// run.
std::uint64_t stray_main_sp, stray_task_sp;
std::uint64_t stray_sum;
void to_main() { switch_stacks(&stray_task_sp, stray_main_sp); }
void to_task() { switch_stacks(&stray_main_sp, stray_task_sp); }
std::uint64_t stray_depth(std::uint64_t n) {
    if (n == 0) return to_main(), 0;
    calls_back([] {});  // a call that has already returned
    return stray_depth(n - 1) + n;
}
void stray_inside() { stray_sum += stray_depth(3); }
void run_stray() {
    calls_back([] { calls_back(stray_inside); });
    stray_sum += catches(2) + calls_leaf(1);
    for (;;) to_main();
}
// Creates the task; to_task() then begins it.
bool begin_stray(Task& task) {
    wrong = false;
    stray_sum = 0;
    const bool done = task.create(run_stray);
    stray_task_sp = task.sp;
    return done;
}
constexpr std::uint64_t stray_result = 1 + 2 + 3 + 3 + 3;
// Calls `run` with each recorder on these functions, and with callbacks.
template <typename Run>
void with_each_hook(Run run) {
    static constexpr std::uint16_t software_increments[] = {0x00};
    static constexpr std::span<const std::uint16_t> none, one(software_increments);
    const struct {
        Recorder recorder;
        std::span<const std::uint16_t> events;
    } ways[] = {{Recorder::graph, none}, {Recorder::profile, none}, {Recorder::duration, none},
                {Recorder::graph, one},  {Recorder::profile, one},  {Recorder::sampled, none},
                {Recorder::none, none}};
    for (const auto& [recorder, events] : ways) {
        if (!counts_events && !events.empty()) continue;
        REQUIRE(nothing_traced() && is_ok(count_events(events)));
        REQUIRE(is_ok(enable(recorder, Sites::of(traced))));
        if (recorder == Recorder::none) REQUIRE(is_ok(attach(counting_exits, Sites::of(traced))));
        run();
        if (outcome.failure != nullptr) return;
    }
}

}  // namespace

// The context is said to be none. The task's open calls return and are counted; this core's open
// calls stay open.
SELFTEST("contexts.calls_of_a_refused_task_return_without_a_record") {
    with_each_hook([] {
        REQUIRE(begin_stray(tasks[0]));
        static Status refused;
        const Recording recording = record([] {
            calls_back([] {
                Context& context = tasks[0].context;
                (void)context_switch(context);
                to_task();
                (void)context_switch(main_context());
                const std::uint32_t core = std::exchange(context.core, 0);
                ContextFrame* const frames = std::exchange(context.frames, nullptr);
                refused = context_switch(context);
                to_task();
                context.frames = frames;
                context.core = core;
                calls_leaf(1);
                wrong |= !is_ok(context_switch(context)) || hooked_return_address(0) != 0;
                wrong |= !is_ok(context_switch(main_context()));
            });
        });
        REQUIRE(refused == Status::conflict && stray_sum == stray_result && !wrong);
        REQUIRE(grown(&Counters::stray_returns) == 2 && recording.well_formed);
        REQUIRE(hooked_return_address(0) == 0);
    });
}

// The position of this record in a core's ring, from `begin` on; 0: it is not there.
std::uint64_t position_of(const Core& core, std::uint64_t begin, protocol::Extended what,
                          std::uint32_t argument) {
    for (std::uint64_t at = begin; at != core.cursor; at += record_bytes) {
        const protocol::Record record = record_at(core, at);
        if (record.is(what) && record.argument() == argument) return at;
    }
    return 0;
}
std::uint64_t switch_to(const Core& core, std::uint64_t begin, const Context& context) {
    return position_of(core, begin, protocol::Extended::context, context.number);
}
// What core 1's ring says from `begin` on about where a context has recorded before; 0: nothing.
std::uint64_t told_move(std::uint64_t begin, const Context& context) {
    const Core& core = all_cores()[1];
    const std::uint64_t at = position_of(core, begin, protocol::Extended::task,
                                         protocol::task_argument(protocol::TaskFact::moved, 1));
    if (at == 0) return 0;
    const bool is_behind = switch_to(core, begin, context) + record_bytes == at;
    return is_behind ? record_at(core, at + record_bytes).data() : ~std::uint64_t{0};
}

// The task continues on the other core, and its open calls return there.
SELFTEST_OF_CORES("contexts.go_on_on_another_core") {
    if ((other_cores() & 2) == 0) return;
    with_each_hook([] {
        REQUIRE(begin_stray(tasks[0]));
        const std::uint64_t on_0 = this_core().cursor, on_1 = all_cores()[1].cursor;
        (void)context_switch(tasks[0].context);
        to_task();
        (void)context_switch(main_context());
        // Right behind its last record there, the switch to the main context has its own.
        const bool records = switch_to(this_core(), on_0, tasks[0].context) != 0;
        const std::uint64_t recorded = protocol::moved_data(0, index_at(this_core().cursor) - 1);
        static Status status;
        const unsigned exits_before = exits;
        on_other_cores([](unsigned core) {
            if (core != 1 || !joined_here()) return;
            calls_back([] {
                status = context_switch(tasks[0].context);
                to_task();
                (void)context_switch(main_context());
                wrong |= calls_leaf(1) != 3;
            });
            wrong |= hooked_return_address(0) != 0;
        });
        REQUIRE(workers_done() && is_ok(status) && stray_sum == stray_result && !wrong);
        REQUIRE(grown(&Counters::stray_returns) == 0 && grown(&Counters::dropped) == 0);
        REQUIRE(told_move(on_1, tasks[0].context) == (records ? recorded : 0));
        REQUIRE(exits == exits_before || exits - exits_before >= 2);
    });
}

SELFTEST_OF_CORES("contexts.count_where_their_calls_end") {
    if ((other_cores() & 2) == 0) return;
    REQUIRE(only_traced(Recorder::profile, Sites::of(traced)) && begin_stray(tasks[0]));
    const auto calls_on = [](unsigned core) { return profile_of(pointer(calls_back), core).calls; };
    const std::uint64_t before[] = {calls_on(0), calls_on(1)};
    (void)context_switch(tasks[0].context);
    to_task();  // three calls have returned, and two are open
    (void)context_switch(main_context());
    on_other_cores([](unsigned core) {
        if (core != 1 || !joined_here()) return;
        (void)context_switch(tasks[0].context);
        to_task();
        (void)context_switch(main_context());
    });
    REQUIRE(workers_done() && stray_sum == stray_result);
    REQUIRE(calls_on(0) == before[0] + 3 && calls_on(1) == before[1] + 2);
}

// Without stack bounds and contexts, the calls of three stacks are on one shadow stack.
SELFTEST("contexts.stacks_that_nobody_told_of") {
    with_each_hook([] {
        Core& core = *joined_core();
        const std::uint64_t low = std::exchange(core.stack_low, 0);
        const std::uint64_t high = std::exchange(core.stack_high, ~std::uint64_t{0});
        auto& sentinel = reinterpret_cast<ShadowFrame*>(core.shadow_base)[-1];
        sentinel.sp = ~std::uint64_t{0};
        std::uint64_t sp[2], sums = 0;
        (void)record([] {});
        for (unsigned n = 0; n < 2; ++n) {  // their stacks lie above or below those of open calls
            REQUIRE(begin_stray(tasks[n]) && is_ok(context_destroy(tasks[n].context)));
            to_task();
            sp[n] = stray_task_sp;
            sums += stray_sum;
        }
        stray_sum = 0;
        calls_leaf(1);
        for (const unsigned n : {0, 1}) {
            stray_task_sp = sp[n];
            to_task();
        }
        sums = stray_sum;
        core.stack_low = low;
        core.stack_high = sentinel.sp = high;
        REQUIRE(sums == 2 * stray_result && hooked_return_address(0) == 0);
        REQUIRE(grown(&Counters::stray_returns) != 0 && grown(&Counters::off_stack) != 0);
    });
}
