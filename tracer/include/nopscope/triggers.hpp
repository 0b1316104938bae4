// SPDX-License-Identifier: Apache-2.0
// Triggers: start, stop or mark the recording when a function is entered.
//
//     static nopscope::Trigger trigger(nopscope::Action::start, 1000);   // at the 1000th entry
//     nopscope::stop();
//     nopscope::attach(trigger, nopscope::Sites::of(functions));
//
// A trigger is a callback, so it works while recording is stopped, and comes before the function's
// recorder: `start` has the call that it is about, `stop` has it no more.
#pragma once

#include "nopscope/ops.hpp"

namespace nopscope {

// A point in time that the host shows, with the function that it lies in. `id`: 25 bits, the
// firmware's own. Recorded also while recording is stopped; dropped, and counted, when the ring is
// full. Any context.
void mark(std::uint32_t id);

// A mark, and pump() sends what every core has recorded so far, without waiting for a frame's worth of
// it. In flight mode that is what the rings hold: entries are refused, and counted as dropped, from here
// until the pump has seen the rings, and then while there is no room; when all of it is on the line,
// the newest records take the place of the oldest again. Another one meanwhile comes after it. Any
// context.
void snapshot(std::uint32_t id);

enum class Action : std::uint8_t { start, stop, snapshot };

// The callback of every Trigger.
void count_down(std::uint64_t ip, std::uint64_t parent_ip, Ops* ops, Regs* regs);

// Static storage, as any Ops.
struct Trigger : Ops {
    constexpr Trigger(Action its_action, std::uint32_t entries, std::uint32_t its_id = 0)
        : Ops{.func = count_down, .flags = ops_unguarded},
          left(entries), id(its_id), action(its_action) {}

    // Acts, once, at the entries-th entry from now, of all its functions on all cores; 0: never. Any
    // context.
    void arm(std::uint32_t entries) { __atomic_store_n(&left, entries, __ATOMIC_RELAXED); }
    bool has_acted() const { return __atomic_load_n(&left, __ATOMIC_RELAXED) == 0; }

    std::uint32_t left;  // entries
    std::uint32_t id;    // of a snapshot's mark
    Action action;
};

#if !NOPSCOPE_ENABLED
NOPSCOPE_EMPTY void mark(std::uint32_t) {}
NOPSCOPE_EMPTY void snapshot(std::uint32_t) {}
NOPSCOPE_EMPTY void count_down(std::uint64_t, std::uint64_t, Ops*, Regs*) {}
#endif

}  // namespace nopscope
