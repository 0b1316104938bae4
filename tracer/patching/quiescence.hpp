// SPDX-License-Identifier: Apache-2.0
// Waits until no core uses an object that a slot held before: the wait of synchronize().
//
// A guarded trampoline uses a slot's object only while it holds a guard. An unguarded one uses it
// only while its frame is on a chain (arch/arm64/callbacks.S). After an interrupt, a trampoline
// that takes a guard or adds a frame loads the new slot. The far trampoline and the profile's entry
// mark nothing. So a core must be seen outside their code, and not in an interrupt, which may have
// interrupted their code.
//
// wait() calls each core until it has seen the core once without an open unguarded frame and
// outside that code. The first call also notes which guards are taken. wait() then waits until it
// has seen each of these guards free.
#pragma once

#include "tracer/arch/machine.hpp"
#include "tracer/arch/system.hpp"
#include "tracer/core/core.hpp"

#include <span>

namespace nopscope {

template <MachineConcept M>
class Quiescence {
public:
    struct Code {
        Address begin;
        Address end;
    };
    // `unmarked`: code that reads slots without a mark, and that a site may call.
    Quiescence(M& machine, std::span<Core> cores, std::span<const Code> unmarked)
        : machine_(machine), cores_(cores), unmarked_(unmarked) {}

    // Waits at most until clock `end`. False: a core still uses an old object, or did not answer.
    bool wait(std::uint64_t end) {
        for (unsigned core = 0; core < max_cores; ++core) taken_[core] = 0;
        // A core outside `cores_` runs no traced code. A core that went off is not called.
        const std::uint32_t ours = (1u << cores_.size()) - 1;
        pending_ = first_call_ = machine_.online_cores() & ours & ~(1u << machine_.core());
        while ((pending_ &= machine_.online_cores()) != 0) {
            if (!machine_.run_on_other_cores(note_use, this)) return false;
            if (pending_ == 0) break;
            if (!before(end)) return false;
            arch::relax();
        }
        for (unsigned core = 0; core < cores_.size(); ++core) {
            while ((taken_[core] = still_taken(cores_[core], taken_[core])) != 0) {
                if (!before(end)) return false;
                arch::relax();
            }
        }
        return true;
    }

    // Whether a core interrupted at `here` uses no slot's object. Does not look at its guards.
    static bool is_outside(const Core& core, const Interrupted& here,
                           std::span<const Code> unmarked) {
        if (core.unguarded != 0) return false;
        for (const Code& code : unmarked) {
            if (here.depth != 0 || (here.pc >= code.begin && here.pc < code.end)) return false;
        }
        return true;
    }

private:
    static_assert(max_interrupt_depth <= 32);

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
    std::span<const Code> unmarked_;
    std::uint32_t pending_ = 0;       // bit mask of the cores not yet seen outside
    std::uint32_t first_call_ = 0;    // bit mask of the cores not yet called
    std::uint32_t taken_[max_cores];  // by core: the guards found taken, a bit for each depth
};

}  // namespace nopscope
