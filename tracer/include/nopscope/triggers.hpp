// SPDX-License-Identifier: Apache-2.0
/// \file
/// Triggers: start, stop or mark the recording when a function is entered.
///
///     static nopscope::Trigger trigger(nopscope::Action::start, 1000);  // at the 1000th entry
///     nopscope::stop();
///     nopscope::attach(trigger, nopscope::Sites::of(functions));
///
/// A trigger is a callback, so it works while recording is stopped. It runs before the function's
/// recorder: `start` records the call that triggered it, `stop` does not.
#pragma once

#include "nopscope/ops.hpp"

namespace nopscope {

/// \name Marks
/// \{

/// Records a point in time, which the host shows with the function that it lies in. `id` is a
/// number of 25 bits that the firmware chooses. It works while recording is stopped, too. In a ring
/// that is full of calls, 32 marks have room. The tracer drops more of them, and counts them. Any
/// context, on a core that has joined.
void mark(std::uint32_t id);

/// Records a mark, and makes pump() send what every core has recorded so far without waiting for a
/// whole frame. Any context.
///
/// In flight mode pump() sends what the rings hold. Until it has looked at the rings, and later
/// while there is no room, entries are dropped and counted. When pump() has sent all, new records
/// overwrite the oldest again. If a second snapshot is requested meanwhile, it follows the first.
void snapshot(std::uint32_t id);

/// \}

/// The action of a Trigger.
enum class Action : std::uint8_t {
    start,     ///< start()
    stop,      ///< stop()
    snapshot,  ///< snapshot() with the trigger's `id`
};

/// The callback of every Trigger. The tracer calls it.
void count_down(std::uint64_t ip, std::uint64_t parent_ip, Ops* ops, Regs* regs);

/// An ops that acts once, at the n-th entry of its functions. Static storage, as for any Ops.
struct Trigger : Ops {
    /// Acts at the `entries`-th entry; see arm(). `its_id` is the mark of Action::snapshot.
    constexpr Trigger(Action its_action, std::uint32_t entries, std::uint32_t its_id = 0)
        : Ops{.func = count_down, .flags = ops_unguarded},
          left(entries),
          id(its_id),
          action(its_action) {}

    /// Makes the trigger act once more: at the `entries`-th entry from now, counted over all its
    /// functions and all cores. 0: never. Any context.
    void arm(std::uint32_t entries) { __atomic_store_n(&left, entries, __ATOMIC_RELAXED); }
    /// True if the trigger has acted since arm(), or is not armed. Any context.
    bool has_acted() const { return __atomic_load_n(&left, __ATOMIC_RELAXED) == 0; }

    std::uint32_t left;  ///< Entries until it acts.
    std::uint32_t id;    ///< The mark's number, for Action::snapshot.
    Action action;       ///< The action.
};

#if !NOPSCOPE_ENABLED
NOPSCOPE_EMPTY void mark(std::uint32_t) {}
NOPSCOPE_EMPTY void snapshot(std::uint32_t) {}
NOPSCOPE_EMPTY void count_down(std::uint64_t, std::uint64_t, Ops*, Regs*) {}
#endif

}  // namespace nopscope
