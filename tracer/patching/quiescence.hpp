// SPDX-License-Identifier: Apache-2.0
// Waits until no core and no task uses an object that a slot held before: the wait of
// synchronize().
//
// A guarded trampoline uses a slot's object only while it holds a guard. An unguarded one uses it
// only while its frame is on a chain (arch/arm64/callbacks.S). After an interrupt, a trampoline
// that takes a guard or adds a frame loads the new slot. The far trampoline and the profile's entry
// mark nothing. So a core must be seen outside their code, and not in an interrupt, which may have
// interrupted their code.
//
// wait() calls each core until it has seen the core once without an open unguarded frame and
// outside that code. The first call also notes which guards are taken. wait() then waits until it
// has seen each of these guards free. A task may have been preempted inside: wait() asks each
// context, too, and waits until the task has run on. The task that waits is not inside, whichever
// core it runs on; it may be moved between two calls.
#pragma once

#include "tracer/arch/machine.hpp"
#include "tracer/arch/system.hpp"
#include "tracer/core/ring.hpp"

#include <span>

namespace nopscope {

template <MachineConcept M>
class Quiescence {
public:
    // Whether a context is inside (await_contexts() in recorders/open_calls.hpp). `first_time`: at
    // the first of these calls. Later only those that were inside then.
    using AwaitContexts = bool (*)(bool first_time);
    // `unmarked`: code that reads slots without a mark, and that a site may call.
    Quiescence(M& machine, std::span<Core> cores, std::span<const CodeRange> unmarked,
               AwaitContexts await_contexts)
        : machine_(machine), cores_(cores), unmarked_(unmarked), await_contexts_(await_contexts) {}

    // Waits at most until clock `end`, and calls waiting() meanwhile. False: a core or a task still
    // uses an old object, or a core did not answer.
    template <typename Waiting>
    bool wait(std::uint64_t end, Waiting waiting) {
        for (unsigned core = 0; core < max_cores; ++core) taken_[core] = 0;
        // A core outside `cores_` runs no traced code. A core that went off is not called.
        pending_ = first_call_ = machine_.online_cores() & ((1u << cores_.size()) - 1);
        const auto wait_while = [&](auto inside) {
            while (inside()) {
                if (!before(end)) return false;
                waiting();
            }
            return true;
        };
        bool answered = true;
        if (!wait_while([&] { return (answered = call_pending()) && pending_ != 0; }) || !answered)
            return false;
        for (unsigned core = 0; core < cores_.size(); ++core) {
            if (!wait_while(
                    [&] { return (taken_[core] = still_taken(cores_[core], taken_[core])) != 0; }))
                return false;
        }
        return !await_contexts_(true) || wait_while([&] { return await_contexts_(false); });
    }

    // Whether a core interrupted at `here` uses no slot's object. Does not look at its guards.
    static bool is_outside(const Core& core, const Interrupted& here,
                           std::span<const CodeRange> unmarked) {
        if (core.unguarded != 0) return false;
        for (const CodeRange& code : unmarked) {
            if (here.depth != 0 || code.contains(here.pc)) return false;
        }
        return true;
    }

private:
    static_assert(max_interrupt_depth <= 32);

    // Calls the other cores. False: one did not answer.
    bool call_pending() {
        const InterruptsMasked masked(machine_);  // so that this stays the same core
        pending_ &= machine_.online_cores() & ~(1u << machine_.core());
        return pending_ == 0 || machine_.run_on_other_cores(note_use, this);
    }

    bool before(std::uint64_t end) { return static_cast<std::int64_t>(end - machine_.clock()) > 0; }

    // Clears the bits of guards that are free now.
    static std::uint32_t still_taken(const Core& core, std::uint32_t taken) {
        for (unsigned depth = 0; depth < max_interrupt_depth; ++depth) {
            if (__atomic_load_n(&core.guards[depth], __ATOMIC_ACQUIRE) != 0)
                taken &= ~(1u << depth);
        }
        return taken;
    }

    static void note_use(void* argument, const Interrupted& here) {
        auto& self = *static_cast<Quiescence*>(argument);
        if (here.core >= self.cores_.size()) return;
        const std::uint32_t bit = 1u << here.core;
        const Core& core = self.cores_[here.core];
        if ((__atomic_load_n(&self.first_call_, __ATOMIC_RELAXED) & bit) != 0) {
            std::uint32_t taken = 0;
            for (unsigned depth = 0; depth < max_interrupt_depth; ++depth) {
                taken |= static_cast<std::uint32_t>(core.guards[depth] == 0) << depth;
            }
            self.taken_[here.core] = taken;
            __atomic_fetch_and(&self.first_call_, ~bit, __ATOMIC_RELAXED);
        }
        if (!is_outside(core, here, self.unmarked_)) return;
        __atomic_fetch_and(&self.pending_, ~bit, __ATOMIC_RELEASE);
    }

    M& machine_;
    std::span<Core> cores_;
    std::span<const CodeRange> unmarked_;
    AwaitContexts await_contexts_;
    std::uint32_t pending_ = 0;       // bit mask of the cores not yet seen outside
    std::uint32_t first_call_ = 0;    // bit mask of the cores not yet called
    std::uint32_t taken_[max_cores];  // by core: the guards found taken, a bit for each depth
};

}  // namespace nopscope
