// SPDX-License-Identifier: Apache-2.0
// The cost of a call of an empty function with each recorder, and with a direct entry.
#include "firmware/bench/functions.hpp"
#include "firmware/bench/strategies.hpp"
#include "nopscope/events.hpp"
#include "nopscope/nopscope.hpp"
#include "nopscope/return_ops.hpp"
#include "tracer/arch/instructions.hpp"
#include "tracer/arch/machine.hpp"

// The architecture's callbacks.S.
extern "C" const char nopscope_far[];

namespace bench {

namespace {

using nopscope::Recorder;
using nopscope::Sites;
using nopscope::Status;

const void* const only[] = {reinterpret_cast<const void*>(traced)};

void need_ok(Status status) { need(status == Status::ok, nopscope::describe(status)); }

// `stopped`: the row's name while recording is stopped; null: no such row.
void measure_recorder(Recorder recorder, const char* recording, const char* stopped) {
    const Reading off = loop_of(traced);
    need_ok(nopscope::enable(recorder, Sites::of(only)));
    const nopscope::Counters before = nopscope::counters();
    const Reading on = loop_of(traced);
    const nopscope::Counters after = nopscope::counters();
    const bool to_ring = recorder != Recorder::profile;
    need(after.dropped == before.dropped && after.shadow_stack_full == before.shadow_stack_full &&
             after.off_stack == before.off_stack &&
             (!to_ring || after.generated >= before.generated + calls),
         "bench: a call was not recorded");
    print({recording, "", 1, 0}, on, off, calls);
    if (stopped == nullptr) return need_ok(nopscope::disable(Sites::of(only)));
    nopscope::stop();
    print({stopped, "", 1, 0}, loop_of(traced), off, calls);
    nopscope::start();
    need_ok(nopscope::disable(Sites::of(only)));
}

// The bench counts instructions with the counter of the first event, so that event is INST_RETIRED.
void measure_events() {
    static constexpr std::uint16_t events[] = {0x08, 0x11};  // INST_RETIRED, CPU_CYCLES
    if (nopscope::count_events({events, 1}) == Status::events_refused) {
        for (const char* const row :
             {"graph, one event", "graph, two events", "profile, with events"})
            print_missing({row, "", 1, 0}, nopscope::describe(nopscope::events_refusal().why));
        return;
    }
    measure_recorder(Recorder::graph, "graph, one event", nullptr);
    need_ok(nopscope::count_events(events));
    measure_recorder(Recorder::graph, "graph, two events", nullptr);
    measure_recorder(Recorder::profile, "profile, with events", nullptr);
    need_ok(nopscope::count_events({}));
}

// A call that the current filters drop.
void measure_filtered(Recorder recorder, const char* name) {
    const Reading off = loop_of(traced);
    need_ok(nopscope::enable(recorder, Sites::of(only)));
    const nopscope::Counters before = nopscope::counters();
    const Reading on = loop_of(traced);
    const std::uint64_t filtered = nopscope::counters().filtered - before.filtered;
    need(filtered >= calls && filtered % calls == 0, "bench: a call was not filtered");
    print({name, "", 1, 0}, on, off, calls);
    need_ok(nopscope::disable(Sites::of(only)));
}

void measure_too_deep() { measure_filtered(Recorder::graph, "graph, too deep"); }

void measure_filters() {
    measure_recorder(Recorder::duration, "duration", "duration, stopped");
    nopscope::set_min_duration(~std::uint64_t{0});
    measure_filtered(Recorder::duration, "duration, too short");
    nopscope::set_min_duration(0);
    measure_recorder(Recorder::sampled, "sampled", "sampled, stopped");
    // Only the next call is recorded.
    nopscope::set_sample(~std::uint32_t{0});
    need_ok(nopscope::enable(Recorder::sampled, Sites::of(only)));
    traced();
    need_ok(nopscope::disable(Sites::of(only)));
    measure_filtered(Recorder::sampled, "sampled, passed over");
    nopscope::set_sample(1);
    static const void* const outer[] = {reinterpret_cast<const void*>(around)};
    need_ok(nopscope::enable(Recorder::graph, Sites::of(outer)));
    nopscope::set_max_depth(1);
    around(measure_too_deep);
    nopscope::set_max_depth(0);
    need_ok(nopscope::disable(Sites::of(outer)));
}

void measure_unguarded() {
    const Reading off = loop_of(traced);
    static nopscope::Ops ops{.func = reinterpret_cast<nopscope::Callback>(bench_empty_callback),
                             .flags = nopscope::ops_unguarded};
    need_ok(nopscope::attach(ops, Sites::of(only)));
    print({"callback, unguarded", "", 1, 0}, loop_of(traced), off, calls);
    need_ok(nopscope::detach(ops));
}

// Entry and exit callbacks, both empty.
void measure_returns() {
    const Reading off = loop_of(traced);
    static nopscope::ReturnOps ops([](std::uint64_t, std::uint64_t, nopscope::ReturnOps*,
                                      nopscope::Regs*, nopscope::CallData*) { return true; },
                                   [](std::uint64_t, std::uint64_t, nopscope::ReturnOps*,
                                      nopscope::ReturnRegs*, nopscope::CallData*) {});
    need_ok(nopscope::attach(ops, Sites::of(only)));
    print({"return callback", "", 1, 0}, loop_of(traced), off, calls);
    need_ok(nopscope::detach(ops));
}

// The word of `traced` that attach() changed, which is the one that toggles.
std::uint64_t toggled_word(nopscope::Machine& machine, const std::uint32_t (&before)[3]) {
    const auto function = reinterpret_cast<std::uintptr_t>(traced);
    for (unsigned word = 0; word < 3; ++word) {
        if (machine.read_word(function + 4 * word) != before[word]) return function + 4 * word;
    }
    need(false, "bench: attach changed no word");
    return 0;
}

void write_text(nopscope::Machine& machine, std::uint64_t address, std::uint32_t word) {
    machine.write_word(address, word);
    machine.clean_dcache_line(address);
    machine.data_barrier();
    machine.invalidate_icache_line(address);
    machine.data_barrier();
    machine.instruction_barrier();
}

// A site reaches an entry more than 128 MiB away through nopscope_far; on RISC-V, any but a
// recorder. No image here is so large. So this writes the call of nopscope_far by hand, over that
// of attach(); the slot is already right.
void measure_direct() {
    nopscope::Machine machine;
    const auto function = reinterpret_cast<std::uintptr_t>(traced);
    const Reading off = loop_of(traced);
    const std::uint32_t before[3] = {machine.read_word(function), machine.read_word(function + 4),
                                     machine.read_word(function + 8)};
    static nopscope::Ops ops{.direct = reinterpret_cast<std::uintptr_t>(bench_empty_direct)};
    need_ok(nopscope::attach(ops, Sites::of(only)));
    Reading callee = off;
    callee.instructions += bench_empty_direct_instructions * calls;

    const std::uint64_t toggle = toggled_word(machine, before);
    const std::uint32_t straight = machine.read_word(toggle);
    const std::uint32_t through_far =
        nopscope::arch::call_at(toggle, reinterpret_cast<std::uintptr_t>(nopscope_far)).value_or(0);
    if (straight == through_far)
        print_missing({"direct in range", "", 1, 0}, "no site can call it");
    else
        print({"direct in range", "", 1, 0}, loop_of(traced), callee, calls);
    write_text(machine, toggle, through_far);
    print({"direct out of range", "", 1, 0}, loop_of(traced), callee, calls);
    write_text(machine, toggle, straight);
    need_ok(nopscope::detach(ops));
}

}  // namespace

void measure_recorders() {
    print({"off", "", 0, 0}, loop_of(traced), loop_of(bench_plain), calls);
    measure_recorder(Recorder::function, "function", "function, stopped");
    measure_recorder(Recorder::graph, "graph", "graph, stopped");
    measure_recorder(Recorder::profile, "profile", "profile, stopped");
    measure_events();
    measure_filters();
    measure_unguarded();
    measure_returns();
    measure_direct();
}

}  // namespace bench
