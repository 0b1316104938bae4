// SPDX-License-Identifier: Apache-2.0
// A switch of context swaps the core's shadow stack and bounds. The tracer notes it before it
// unmasks interrupts, so all other records are on the correct side of its record (ring.hpp explains
// what happens if there is no room).
#include "nopscope/contexts.hpp"

#include "nopscope/return_ops.hpp"
#include "tracer/core/cores.hpp"
#include "tracer/recorders/open_calls.hpp"
#include "tracer/recorders/shadow_stack.hpp"

namespace nopscope {
namespace {

static_assert(sizeof(ContextFrame) == sizeof(ShadowFrame));

constinit Machine machine;
constinit Context mains[max_cores]{};
Context* created = nullptr;  // list of all contexts that exist
std::uint32_t created_lock = 0;
std::uint32_t last_number = 0;

ShadowFrame* frames_of(const Context& context) {
    return reinterpret_cast<ShadowFrame*>(context.frames);
}
std::uint64_t reserve_of(const Core& core, const Context& context) {
    return (context.count - 1) * core.return_bytes;
}

Context& context_of(Core& core) {
    if (core.context == nullptr) core.context = &mains[machine.core()];
    return *core.context;
}

std::uint64_t room_left(const Core& core) {
    return ring_bytes / 2 - own_reserve_bytes - core.reserve;
}

// Binds a context to this core at its first switch, and reserves room for its calls' returns.
Status bind(Core& core, Context& context) {
    const std::uint32_t here = machine.core() + 1;
    if (&context == &mains[machine.core()] || context.core == here) return Status::ok;
    if (context.frames == nullptr || context.core != 0) return Status::conflict;
    const std::uint64_t needed = reserve_of(core, context);
    if (needed > room_left(core)) return Status::ring_too_small;
    context.core = here;
    core.reserve += needed;
    return Status::ok;
}

// True if no core has room for a new context's returns, or if all cores together lack room for
// these and for the contexts that have not run yet: any core may run them.
bool lacks_room(std::size_t frames) {
    std::uint64_t most = 0, all = 0;
    for (unsigned n = 0; n < hello.cores; ++n) {
        const std::uint64_t left = room_left(all_cores()[n]);
        all += left;
        if (left > most) most = left;
    }
    const std::uint64_t return_bytes = all_cores()[0].return_bytes;
    const std::uint64_t needed = (frames - 1) * return_bytes;
    std::uint64_t waiting = 0;
    const Locked locked(machine, created_lock);
    for (const Context* context = created; context != nullptr; context = context->next) {
        if (context->core == 0) waiting += (context->count - 1) * return_bytes;
    }
    return needed > most || needed + waiting > all;
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

// Interrupts are masked, and this core's lock is held.
void swap_to(Core& core, Context& to) {
    Context& from = context_of(core);
    from.top = core.top;
    from.shadow_base = core.shadow_base;
    from.frames_end = core.frames_end;
    from.stack_low = core.stack_low;
    from.stack_high = core.stack_high;
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
    core.context = &to;
    switch_context(machine, core, to.number);
    from.subtree_depth = core.subtree_depth;
    set_subtree_depth(core, core.subtree != 0 ? to.subtree_depth : 0);
    apply_stops_locked(machine, core);
}

}  // namespace

Status context_create(Context& context, std::span<ContextFrame> frames, std::uint64_t stack_low,
                      std::uint64_t stack_high) {
    if (joined_core() == nullptr) return Status::not_initialised;
    if (frames.size() < 2 || stack_low >= stack_high || context.frames != nullptr) {
        return Status::bad_config;
    }
    if (lacks_room(frames.size())) return Status::ring_too_small;
    auto* const shadow = reinterpret_cast<ShadowFrame*>(frames.data());
    for (std::size_t i = 0; i < frames.size(); ++i) {
        shadow[i].hook = 0;
        shadow[i].sp = free_frame_sp;
    }
    shadow[0].return_address = 0;
    shadow[0].sp = context.stack_high = stack_high;
    context.stack_low = stack_low;
    context.top = context.shadow_base = reinterpret_cast<std::uintptr_t>(shadow + 1);
    context.frames_end = reinterpret_cast<std::uintptr_t>(shadow + frames.size());
    context.frames = frames.data();
    context.count = static_cast<std::uint32_t>(frames.size());
    context.core = context.subtree_depth = 0;
    const Locked locked(machine, created_lock);
    last_number = (last_number + 1) % protocol::several_contexts;
    context.number = last_number;
    context.next = created;
    created = &context;
    return Status::ok;
}

Status context_switch(Context& to) {
    Core* const core = joined_core();
    if (core == nullptr) return Status::not_initialised;
    const Locked locked(machine, core->context_lock);
    if (&context_of(*core) == &to) return Status::ok;
    const Status status = bind(*core, to);
    if (status != Status::ok) return status;
    swap_to(*core, to);
    // Ends calls that have returned while another context ran.
    if (top_frame(*core)->sp == stray_frame_sp) unwind(machine, *core, stray_frame_sp + 1, false);
    return status;
}

Context& main_context() { return mains[machine.core()]; }

Status context_destroy(Context& context) {
    if (context.frames == nullptr) return Status::bad_config;
    if (context.core != 0) {
        Core* const core = joined_core();
        if (core == nullptr || context.core != machine.core() + 1) return Status::conflict;
        const Locked locked(machine, core->context_lock);
        Context& running = context_of(*core);
        if (&running == &context) return Status::conflict;
        swap_to(*core, context);
        unwind(machine, *core, context.stack_high - 1, true);
        swap_to(*core, running);
        core->reserve -= reserve_of(*core, context);
        ring_set_limit_locked(machine, *core);
    }
    const Locked locked(machine, created_lock);
    Context** link = &created;
    while (*link != &context) link = &(*link)->next;
    *link = context.next;
    context.frames = nullptr;
    return Status::ok;
}

std::uint64_t take_stray_of_contexts(std::uint64_t sp, std::uint64_t hook) {
    const Locked locked(machine, created_lock);
    std::uint64_t found = 0;
    for (Context* context = created; context != nullptr && found == 0; context = context->next) {
        found = take_stray({frames_of(*context), context->count}, sp, hook);
    }
    return found;
}

void forget_ops_of_contexts(ReturnOps& ops) {
    const Locked locked(machine, created_lock);
    for (Context* context = created; context != nullptr; context = context->next) {
        forget_ops({frames_of(*context), context->count}, ops);
    }
}

void forget_subtree_of_contexts() {
    for (Context& context : mains) context.subtree_depth = 0;
    const Locked locked(machine, created_lock);
    for (Context* context = created; context != nullptr; context = context->next)
        context->subtree_depth = 0;
}

}  // namespace nopscope
