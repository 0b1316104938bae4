// SPDX-License-Identifier: Apache-2.0
// A switch of context swaps the core's shadow stack and bounds. The tracer notes it before it
// unmasks interrupts, so all other records are on the correct side of its record (ring.hpp explains
// what happens if there is no room).
#include "nopscope/contexts.hpp"

#include "nopscope/return_ops.hpp"
#include "tracer/arch/deferral.hpp"
#include "tracer/core/here.hpp"
#include "tracer/core/tracer_time.hpp"
#include "tracer/recorders/all_contexts.hpp"
#include "tracer/recorders/open_calls.hpp"
#include "tracer/recorders/shadow_stack.hpp"
#include "tracer/recorders/task_sender.hpp"
#include "tracer/stream/board_pump.hpp"

#include <utility>

namespace nopscope {

constinit AllContexts all_contexts;

namespace {

Context& context_of(Core& core) {
    if (core.context == nullptr) {
        core.context = &all_contexts.mains[core.number];
        core.context->core = core.number + 1;
    }
    return *core.context;
}

bool is_running(const Context& context) {
    return context.core != 0 && all_cores()[context.core - 1].context == &context;
}

static_assert(sizeof(ContextFrame) == sizeof(ShadowFrame));

constinit Machine machine;
std::uint32_t last_number = 0;

ShadowFrame* frames_of(const Context& context) {
    return reinterpret_cast<ShadowFrame*>(context.frames);
}
// The frames of a shadow stack from `base` to `top`. Where interrupts are deferred, a frame above
// the top has the contents of a call that has returned.
std::span<ShadowFrame> frames_between(std::uint64_t base, std::uint64_t top) {
    auto* const first = reinterpret_cast<ShadowFrame*>(base);
    return {first, reinterpret_cast<ShadowFrame*>(top)};
}
// A call that is open in the profile recorder adds its time to the core where it ends.
void move_cells(const Context& context, std::uint64_t distance) {
    constexpr std::uint64_t address = (std::uint64_t{1} << 48) - 1;  // profile.S: CELL_BITS
    for (ShadowFrame& frame : frames_between(context.shadow_base, context.top)) {
        if (frame.hook == hook_address(Hook::profile) ||
            frame.hook == hook_address(Hook::profile_events))
            frame.position = (frame.position & ~address) | ((frame.position + distance) & address);
    }
}

// Makes this the context's core. False: it runs on another core.
bool bind(Core& core, Context& context) {
    const std::uint32_t here = core.number + 1;
    const std::uint32_t before = context.core;
    if (before == here) return true;
    if (context.frames == nullptr) return false;
    if (before == 0) {
        __atomic_store_n(&context.core, here, __ATOMIC_RELEASE);
        return true;
    }
    Core& left = all_cores()[before - 1];
    const Locked locked(machine, left.context_lock);
    if (left.context == &context) return false;
    move_cells(context, core.cells - left.cells);
    __atomic_store_n(&context.core, here, __ATOMIC_RELEASE);
    return true;
}

// Each ring has room for the returns of all contexts' calls, because any core may run them. Takes
// it for `frames` more, or gives it back. The lock of the contexts is held. False: a ring has none.
bool reserve_everywhere(std::size_t frames) {
    const auto cores = all_cores().first(hello.cores);
    const auto bytes = [frames](const Core& core) { return (frames - 1) * core.return_bytes; };
    for (const Core& core : cores) {
        if (bytes(core) > ring_bytes / 2 - own_reserve_bytes - core.reserve) return false;
    }
    for (Core& core : cores) {
        const Locked locked(machine, core.context_lock);
        core.reserve += bytes(core);
        ring_set_limit_locked(machine, core);
    }
    return true;
}
void give_back_everywhere(std::size_t frames) {
    for (Core& core : all_cores().first(hello.cores)) {
        const Locked locked(machine, core.context_lock);
        core.reserve -= (frames - 1) * core.return_bytes;
        ring_set_limit_locked(machine, core);
    }
}

// Sets how many calls of trace_only_below()'s functions are open in the new running context.
void set_subtree_depth(Core& core, std::uint32_t calls) {
    core.subtree_depth = calls;
    if (core.subtree != 0 && calls == 0) {
        stop_core(core, stopped_outside);
    } else {
        __atomic_fetch_and(&core.stops, ~stopped_outside, __ATOMIC_SEQ_CST);
    }
}

// What is_inside() asks. Guards of interrupts are the core's: only interrupts use them.
void swap_use(Core& core, Context& from, const Context& to) {
    from.guarded = core.guards[0] == 0;
    from.unguarded = core.unguarded;
    if (!arch::defers_interrupts) {
        const unsigned depth = interrupt_depth_of(core);
        from.pc = depth != 0 && depth != unknown_depth ? interrupted_pc() : 0;
    }
    const auto free = reinterpret_cast<std::uintptr_t>(&core.guards[0]);
    __atomic_store_n(&core.guards[0], to.guarded ? 0 : free, __ATOMIC_RELEASE);
    core.unguarded = to.unguarded;
}

// The tracer's work in a context (tracer_time.hpp). The event counters count for `to` meanwhile.
void swap_work(Core& core, Context& from, Context& to) {
    if ((core.tracer_depth | to.tracer_depth) == 0) return;
    from.tracer_depth = core.tracer_depth;
    from.tracer_marked = core.tracer_marked;
    const bool pauses = from.tracer_depth != 0, goes_on = to.tracer_depth != 0;
    if (pauses && !goes_on) resume_events(core);
    if (!pauses && goes_on) pause_events(core);
    core.tracer_depth = std::exchange(to.tracer_depth, 0);
    core.tracer_marked = std::exchange(to.tracer_marked, 0);
}

// Where the context's last records are, if it has any, as a move to another core tells them.
void note_records(const Core& core, Context& context) {
    if (context.number == 0 || core.context_record_pending != 0 ||
        core.last_context_recorded != context.number)
        return;
    context.recorded_on = core.number + 1;
    context.recorded = protocol::moved_data(core.number, record_index(core.cursor));
}
std::uint64_t moved(const Core& core, const Context& context) {
    const bool is_elsewhere = context.recorded_on != 0 && context.recorded_on != core.number + 1;
    return is_elsewhere ? context.recorded : 0;
}

// Interrupts are masked, and this core's lock is held.
[[gnu::always_inline]] inline void swap_to(Core& core, Context& to,
                                           protocol::Left how = protocol::Left::unknown) {
    Context& from = context_of(core);
    note_records(core, from);
    from.top = core.top;
    from.shadow_base = core.shadow_base;
    from.frames_end = core.frames_end;
    from.stack_low = core.stack_low;
    from.stack_high = core.stack_high;
    from.lowest_sp = core.lowest_sp;
    // Time without running counts in the total time of open profiled calls, but in no self time.
    const std::uint64_t now = machine.clock();
    from.profiled = core.profiled;
    from.left = now;
    core.profiled = to.profiled + ((now - to.left) << profiled_shift);
    // Each context counts its own events.
    from.evented = core.evented;
    core.evented = to.evented;
    if (core.events != 0) {
        from.counters = arch::read_counters();
        arch::write_counters(to.counters);
    }
    core.top = to.top;
    core.shadow_base = to.shadow_base;
    core.frames_end = to.frames_end;
    set_shadow_end(core);
    core.stack_low = to.stack_low;
    core.stack_high = to.stack_high;
    core.lowest_sp = to.lowest_sp;
    core.context = &to;
    core.left_position = 0;  // a longjmp that was reported before is another context's
    switch_context(core, to.number, now, moved(core, to), how);
    swap_use(core, from, to);
    swap_work(core, from, to);
    from.subtree_depth = core.subtree_depth;
    if (core.subtree == 0 && core.subtree_depth == 0) return put_switch(machine, core);
    set_subtree_depth(core, core.subtree != 0 ? to.subtree_depth : 0);
    apply_stops_locked(machine, core);
}
[[gnu::noinline]] void swap_rarely(Core& core, Context& to) { swap_to(core, to); }

// Before a context's open calls end, in lossless mode: waits until this core's ring has room for
// their durations. Returns have room of their own.
void make_room_for_durations(const Context& context) {
    const Core* full = nullptr;
    Moment began;
    {
        const Here here;
        const Core* const core = here.joined();
        if (core == nullptr || core->lossless == 0) return;
        std::uint64_t bytes = 0;
        for (const ShadowFrame& frame : frames_between(context.shadow_base, context.top))
            bytes += frame.hook == hook_address(Hook::duration) ? duration_bytes : 0;
        if (bytes == 0 || core->cursor + bytes <= entry_limit(*core)) return;
        full = core;
        began = moment(machine, *core);
    }
    (void)nopscope_wait_for_room(full, 0, began, 0);
}

}  // namespace

Status context_create(Context& context, std::span<ContextFrame> frames, std::uint64_t stack_low,
                      std::uint64_t stack_high, const ContextFacts& facts) {
    if (joined_core() == nullptr) return Status::not_initialised;
    if (frames.size() < 2 || stack_low >= stack_high || context.frames != nullptr) {
        return Status::bad_config;
    }
    const Locked locked(machine, all_contexts.lock);
    if (!reserve_everywhere(frames.size())) return Status::ring_too_small;
    auto* const shadow = reinterpret_cast<ShadowFrame*>(frames.data());
    for (std::size_t i = 0; i < frames.size(); ++i) {
        shadow[i].hook = 0;
        shadow[i].sp = free_frame_sp;
    }
    shadow[0].return_address = 0;
    shadow[0].sp = context.stack_high = context.lowest_sp = stack_high;
    context.stack_low = stack_low;
    context.top = context.shadow_base = reinterpret_cast<std::uintptr_t>(shadow + 1);
    context.frames_end = reinterpret_cast<std::uintptr_t>(shadow + frames.size());
    context.frames = frames.data();
    context.count = static_cast<std::uint32_t>(frames.size());
    // What an earlier context in this storage has left.
    context.core = context.subtree_depth = 0;
    context.recorded_on = context.tracer_depth = context.tracer_marked = 0;
    context.unguarded = context.pc = 0;
    context.profiled = context.left = context.evented = context.counters = 0;
    context.guarded = context.awaited = false;
    last_number = (last_number + 1) % protocol::several_contexts;
    context.number = last_number;
    context.next = all_contexts.created;
    all_contexts.created = &context;
    task_sender.describe(context, facts);
    return Status::ok;
}

static_assert(static_cast<unsigned>(SwitchReason::preempted) ==
                  static_cast<unsigned>(protocol::Left::preempted) &&
              static_cast<unsigned>(SwitchReason::ended) ==
                  static_cast<unsigned>(protocol::Left::ended));

Status context_switch(Context& to, SwitchReason why) {
    const Here here;
    Core* core = here.joined();
    if (core == nullptr) return Status::not_initialised;
    core = arch::kept_in_register(core);
    if (arch::deferral_missed()) add_one(core->undeferred);
    if (&context_of(*core) == &to) return Status::ok;
    if (to.core != core->number + 1 && !bind(*core, to)) return Status::conflict;
    const LockHeld locked(core->context_lock);
    swap_to(*core, to, static_cast<protocol::Left>(why));
    // Ends calls that have returned while another context ran.
    if (top_frame(*core)->sp == stray_frame_sp) unwind(machine, *core, stray_frame_sp + 1, false);
    return Status::ok;
}

std::uintptr_t running_task() {
    const Here here;
    Core* const core = here.joined();
    if (core == nullptr) return machine.core() + 1;  // it has no tasks that the tracer knows of
    return reinterpret_cast<std::uintptr_t>(&context_of(*core));
}

Context& main_context() { return all_contexts.mains[machine.core()]; }

Status context_destroy(Context& context) {
    if (context.frames == nullptr) return Status::bad_config;
    if (context.core != 0) {
        make_room_for_durations(context);
        const Here here;
        Core* const core = here.joined();
        if (core == nullptr || &context_of(*core) == &context) return Status::conflict;
        Context& running = context_of(*core);
        if (!bind(*core, context)) return Status::conflict;
        const Locked locked(machine, core->context_lock);
        swap_rarely(*core, context);
        unwind(machine, *core, context.stack_high - 1, true);
        swap_rarely(*core, running);
    }
    const Locked locked(machine, all_contexts.lock);
    give_back_everywhere(context.count);
    Context** link = &all_contexts.created;
    while (*link != &context) link = &(*link)->next;
    *link = context.next;
    task_sender.forget(context);
    context.frames = nullptr;
    return Status::ok;
}

std::uint64_t take_stray_of_contexts(std::uint64_t sp, std::uint64_t hook) {
    std::uint64_t found = 0;
    for (const Core& core : all_cores()) {
        if (found == 0 && core.shadow_base != 0)
            found = take_stray(frames_between(core.shadow_base, core.top), sp, hook);
    }
    const auto look_in = [&](const Context& context) {
        if (found == 0 && context.shadow_base != 0 && !is_running(context))
            found = take_stray(frames_between(context.shadow_base, context.top), sp, hook);
    };
    const Locked locked(machine, all_contexts.lock);
    for (const Context& main : all_contexts.mains) look_in(main);
    for (const Context* context = all_contexts.created; context != nullptr; context = context->next)
        look_in(*context);
    return found;
}

void forget_ops_of_contexts(ReturnOps& ops) {
    const Locked locked(machine, all_contexts.lock);
    for (Context* context = all_contexts.created; context != nullptr; context = context->next) {
        forget_ops({frames_of(*context), context->count}, ops);
    }
}

// Whether a context may use a slot's object. If it runs, its core's calls have seen it elsewhere.
bool is_inside(const Context& context, bool (*is_unmarked)(std::uint64_t pc)) {
    for (;;) {
        const std::uint32_t on = __atomic_load_n(&context.core, __ATOMIC_ACQUIRE);
        if (on == 0) return false;  // it has not run
        Core& core = all_cores()[on - 1];
        const Locked locked(machine, core.context_lock);
        if (__atomic_load_n(&context.core, __ATOMIC_RELAXED) != on) continue;  // it has moved
        if (core.context == &context) return core.guards[0] == 0 || core.unguarded != 0;
        return context.guarded || context.unguarded != 0 ||
               (context.pc != 0 && is_unmarked(context.pc));
    }
}

bool await_contexts(bool first_time, bool (*is_unmarked)(std::uint64_t pc)) {
    bool any = false;
    const auto look = [&](Context& context) {
        if (first_time || context.awaited) context.awaited = is_inside(context, is_unmarked);
        any |= context.awaited;
    };
    const Locked locked(machine, all_contexts.lock);
    for (Context& main : all_contexts.mains) look(main);
    for (Context* context = all_contexts.created; context != nullptr; context = context->next)
        look(*context);
    return any;
}

void forget_subtree_of_contexts() {
    for (Context& context : all_contexts.mains) context.subtree_depth = 0;
    const Locked locked(machine, all_contexts.lock);
    for (Context* context = all_contexts.created; context != nullptr; context = context->next)
        context->subtree_depth = 0;
}

}  // namespace nopscope
