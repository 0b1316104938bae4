// SPDX-License-Identifier: Apache-2.0
// The tracer's time: it and its events are in no self time (recorders/profile.hpp explains these).
#pragma once

#include "tracer/arch/machine.hpp"
#include "tracer/arch/path_lengths.hpp"
#include "tracer/core/pmu_event_set.hpp"
#include "tracer/core/ring.hpp"
#include "tracer/protocol/hello.hpp"

#include <span>
#include <utility>

namespace nopscope {

inline constexpr unsigned profiled_shift = 8;  // Core::profiled is in 1/2^8 ticks
static_assert(1u << profiled_shift == protocol::overhead_unit);

// Clock and Core::profiled at one instant.
struct ProfileInstant {
    std::uint64_t clock;
    std::uint64_t profiled;
};

// Reads both, and sets `profiled` to next(both).
template <MachineConcept M, typename Next>
ProfileInstant profile_instant(M& machine, Core& core, Next next) {
    ProfileInstant now{0, __atomic_load_n(&core.profiled, __ATOMIC_RELAXED)};
    do {
        now.clock = machine.clock();
    } while (!__atomic_compare_exchange_n(&core.profiled, &now.profiled, next(now), true,
                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return now;
}

// While it exists, time and events count for the tracer, not for a function. With a mark, the ring
// has a tracer_begin and a tracer_end around it. In between, interrupts may be on: the task may be
// preempted and moved to another core. Work on top of such work has no brackets: a reader would
// take them for the outer's. A recorded interrupt ends the outer's brackets first (interrupts.cpp).
// They begin again when it ends; but those of work in steps only with the next step, because a
// kernel may run behind the interrupt's end, on top of that work.
template <MachineConcept M>
class TracerWork {
public:
    enum class Mark : std::uint8_t { no, whole, steps };  // as Core::tracer_marked

    // `cores`: core n is the machine's core n. `began`: when the work began, after `before`
    // instructions of a recorder.
    TracerWork(M& machine, std::span<Core> cores, Mark mark, Moment began = {},
               std::uint32_t before = 0)
        : machine_(machine), cores_(cores) {
        const InterruptsMasked masked(machine);
        Core& core = here();
        if (core.tracer_depth++ == 0) pause_events(core);
        begin_ =
            profile_instant(machine, core, [](const ProfileInstant& at) { return at.profiled; });
        if (mark != Mark::no && core.tracer_marked == 0 &&
            put_own(machine, core, protocol::Extended::tracer_begin, before, &began))
            core.tracer_marked = marked_ = static_cast<std::uint32_t>(mark);
    }
    ~TracerWork() {
        const InterruptsMasked masked(machine_);
        Core& core = here();
        if (marked_ != 0 && std::exchange(core.tracer_marked, 0) != 0)
            (void)put_own(machine_, core, protocol::Extended::tracer_end, after_);
        (void)profile_instant(machine_, core, [this](const ProfileInstant& at) {
            return begin_.profiled + ((at.clock - begin_.clock) << profiled_shift);
        });
        if (--core.tracer_depth == 0) resume_events(core);
    }
    TracerWork(const TracerWork&) = delete;
    TracerWork& operator=(const TracerWork&) = delete;

    // Work in steps: with interrupts masked, before each step; and before each wait.
    void go_on() {
        if (marked_ == 0 || here().tracer_marked != 0) return;
        const InterruptsMasked masked(machine_);
        Core& core = here();
        if (core.tracer_marked == 0 &&
            put_own(machine_, core, protocol::Extended::tracer_begin, arch::before_going_on))
            core.tracer_marked = marked_;
    }

    // About how many instructions of the tracer follow this scope.
    void followed_by(std::uint32_t instructions) { after_ = instructions; }

private:
    Core& here() const { return cores_[machine_.core()]; }

    M& machine_;
    std::span<Core> cores_;
    ProfileInstant begin_{};
    std::uint32_t after_ = 0;
    std::uint32_t marked_ = 0;  // Core::tracer_marked while the ring has this work's tracer_begin
};

}  // namespace nopscope
