// SPDX-License-Identifier: Apache-2.0
// Keeps the tracer's time and events out of all self times (recorders/profile.hpp explains these).
#pragma once

#include "tracer/arch/machine.hpp"
#include "tracer/core/core.hpp"
#include "tracer/core/pmu_event_set.hpp"
#include "tracer/protocol/hello.hpp"

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

// While it exists, time and events count for the tracer, not for a function.
template <MachineConcept M>
class TracerTimeScope {
public:
    TracerTimeScope(M& machine, Core& core)
        : machine_(machine),
          core_(core),
          paused_(core),
          begin_(profile_instant(machine, core,
                                 [](const ProfileInstant& at) { return at.profiled; })) {}
    ~TracerTimeScope() {
        (void)profile_instant(machine_, core_, [this](const ProfileInstant& at) {
            return begin_.profiled + ((at.clock - begin_.clock) << profiled_shift);
        });
    }
    TracerTimeScope(const TracerTimeScope&) = delete;
    TracerTimeScope& operator=(const TracerTimeScope&) = delete;

private:
    M& machine_;
    Core& core_;
    EventsPaused paused_;
    ProfileInstant begin_;
};

}  // namespace nopscope
