// SPDX-License-Identifier: Apache-2.0
// The shadow stack's slow paths (core.hpp): calls that longjmp ended, and real return addresses.
#pragma once

#include "tracer/arch/path_lengths.hpp"
#include "tracer/core/hooks.hpp"
#include "tracer/core/stop_reasons.hpp"
#include "tracer/core/strays.hpp"
#include "tracer/recorders/duration.hpp"
#include "tracer/recorders/profile.hpp"

namespace nopscope {

inline ShadowFrame* top_frame(const Core& core) {
    return reinterpret_cast<ShadowFrame*>(core.top) - 1;
}

// Limits recorders to `max_depth` frames, or to all if there are fewer.
inline void set_shadow_end(Core& core) {
    const std::uint64_t end = core.shadow_base + core.max_depth * sizeof(ShadowFrame);
    const std::uint64_t there = (core.frames_end - core.shadow_base) / sizeof(ShadowFrame);
    const bool lower = core.max_depth != 0 && core.max_depth < there;
    __atomic_store_n(&core.shadow_end, lower ? end : core.frames_end, __ATOMIC_RELAXED);
}

// Empties a shadow stack of `count` frames, the sentinel included. Calls lie below stack_high.
inline void reset_shadow_stack(Core& core, ShadowFrame* frames, std::size_t count,
                               std::uint64_t stack_high) {
    for (std::size_t i = 0; i < count; ++i) frames[i].sp = free_frame_sp;
    frames[0].return_address = frames[0].hook = 0;
    frames[0].sp = core.stack_high = stack_high;
    core.top = core.shadow_base = reinterpret_cast<std::uintptr_t>(frames + 1);
    core.frames_end = reinterpret_cast<std::uintptr_t>(frames + count);
    set_shadow_end(core);
}

// The code that found out that calls have ended: when its work began, after how many instructions.
struct Finder {
    Moment began;
    std::uint32_t before = 0;
};

// The end time of the calls that unwind() closes, with interrupts masked. If nothing was recorded
// since a reported longjmp, it is the longjmp's time. Then a tracer_begin and a tracer_end enclose
// the returns, and two more the work since the finder began.
template <MachineConcept M>
class Unwinding {
public:
    Unwinding(M& machine, Core& core, Finder& finder)
        : machine_(machine), core_(core), finder_(finder) {}
    // Call it before a return is recorded.
    Moment& ended() {
        // A return names its entry, so it may precede its switch's record. A bracket may not, nor
        // may it be in another one: this is the code of an interrupt then.
        if (core_.left_position == core_.cursor && core_.context_record_pending == 0 &&
            core_.tracer_marked == 0) {
            left_ = {core_.left_position, core_.left_clock};
            if (finder_.began.position == core_.cursor) found_ = finder_.began.clock;
            told_ = put_own_said(machine_, core_, protocol::Extended::tracer_begin,
                                 arch::told_before, &left_);
        }
        return told_ ? left_ : finder_.began;
    }
    ~Unwinding() {
        if (!told_) return;
        put_own_said(machine_, core_, protocol::Extended::tracer_end, arch::told_after, &left_);
        Moment found{found_ != 0 ? core_.cursor : 0, found_};
        if (!put_own_said(machine_, core_, protocol::Extended::tracer_begin, finder_.before,
                          &found))
            return;
        put_own_said(machine_, core_, protocol::Extended::tracer_end, arch::way_back);
    }
    Unwinding(const Unwinding&) = delete;
    Unwinding& operator=(const Unwinding&) = delete;

private:
    M& machine_;
    Core& core_;
    Finder& finder_;  // outlives this
    Moment left_;
    std::uint64_t found_ = 0;
    bool told_ = false;
};

// As nopscope_graph_events_hook. Interrupts are masked. False: events are not known.
template <MachineConcept M>
bool put_return_with_events(M& machine, Core& core, const ShadowFrame& frame, protocol::Record ret,
                            Moment& ended) {
    const EventSet set{frame.rest[1]};
    if (!set.any() || set.word != core.events) return false;
    const auto claim = ring_claim(machine, core, set.return_bytes(), no_limit, &ended);
    const std::uint64_t events = counters_between(frame.rest[0], arch::read_counters());
    const std::uint64_t data[] = {counter_of(events, 0), counter_of(events, 1)};
    const std::uint64_t word = ret.word | static_cast<std::uint32_t>(claim->clock);
    ring_store(core, claim->position, word + recorder_excess(ret));
    ring_store_many(core, {claim->position + record_bytes, claim->clock}, set.head(),
                    {data, set.count()});
    return true;
}
// The return of a graph recorder's call. Interrupts are masked.
template <MachineConcept M>
void put_return(M& machine, Core& core, const ShadowFrame& frame, bool unwound, Moment& ended) {
    const auto entry = static_cast<std::uint32_t>(record_index(frame.position));
    const protocol::Record ret =
        protocol::make_record(protocol::Kind::ret, entry << 1 | (unwound ? 1u : 0u), 0);
    const bool counts = hook_of(frame.hook) == Hook::graph_events;
    if (counts && put_return_with_events(machine, core, frame, ret, ended)) return;
    (void)ring_put(machine, core, ret, no_limit, &ended);
}

// Ends a call that longjmp ended, in the way of the recorder that owns the frame.
template <MachineConcept M>
void close_unwound(M& machine, Core& core, const ShadowFrame& frame, Unwinding<M>& unwinding) {
    switch (hook_of(frame.hook)) {
    case Hook::graph:
    case Hook::graph_events: put_return(machine, core, frame, true, unwinding.ended()); break;
    case Hook::profile_events: profile_events_unwound(core, frame); [[fallthrough]];
    case Hook::profile: profile_unwound(machine, core, frame); break;
    case Hook::duration: (void)duration_unwound(machine, core, frame); break;
    case Hook::callback:  // its exit is not called, so trace_only_below() counts here
        if (core.subtree != 0 && frame.rest[0] == core.subtree && --core.subtree_depth == 0) {
            stop_core(core, stopped_outside);
        }
        break;
    case Hook::none: break;
    }
}

// True if a call with this SP proves that the top frame's call has ended: its SP is lower or, with
// `same_sp_too`, equal. A free frame on top ends the search: its call is pushing or popping it.
inline bool is_top_dead(const Core& core, std::uint64_t sp, bool same_sp_too) {
    const std::uint64_t top = top_frame(core)->sp;
    return top != free_frame_sp && top < core.stack_high &&
           (top < sp || (top == sp && same_sp_too));
}

// Closes every dead frame with the flag `unwound`. Interrupts are masked, because a traced one
// would pop the same frames. Returns the new top.
template <MachineConcept M>
std::uint64_t unwind(M& machine, Core& core, std::uint64_t sp, bool same_sp_too,
                     Finder&& finder = {}) {
    Unwinding<M> unwinding(machine, core, finder);
    while (is_top_dead(core, sp, same_sp_too)) {
        ShadowFrame* const frame = top_frame(core);
        bury(core, *frame);
        frame->sp = free_frame_sp;
        core.top = reinterpret_cast<std::uintptr_t>(frame);
        close_unwound(machine, core, *frame, unwinding);
    }
    return core.top;
}

// Calls visit(frame) for the open hooked calls, innermost first, until it returns false.
template <typename Visit>
void for_each_open(const Core& core, Visit visit) {
    const ShadowFrame* frame = top_frame(core);
    for (; frame->sp < core.stack_high; --frame) {
        if (frame->sp != free_frame_sp && !visit(*frame)) return;
    }
}

// True if an open call of this context has this SP.
inline bool has_open(const Core& core, std::uint64_t sp) {
    bool found = false;
    for_each_open(core, [&](const ShadowFrame& frame) { return !(found = frame.sp == sp); });
    return found;
}

// Returns where a call with the return address `address` really returns to. A hook there is that of
// the frame right below `frame` (null: the top frame), because only that can have left it. Then the
// result is the next return address below that is no hook; for a tail call, its caller's.
inline std::uint64_t caller_behind(const Core& core, std::uint64_t address,
                                   const ShadowFrame* frame = nullptr) {
    if (address % hook_alignment != 0) return address;
    const ShadowFrame* const below = frame != nullptr ? frame - 1 : top_frame(core);
    if (below->hook != address) return address;
    std::uint64_t real = 0;
    for_each_open(core, [&](const ShadowFrame& open) {
        if (frame != nullptr && &open >= frame) return true;
        if (hook_of(open.return_address) != Hook::none) return true;
        real = open.return_address;
        return false;
    });
    return real;
}

}  // namespace nopscope
