// SPDX-License-Identifier: Apache-2.0
// Stopping and starting a core. Core::stops has a bit for each reason; while one is set, `limit` is
// 0. Both are set without a lock, so the code that sets them checks again afterwards.
#pragma once

#include "tracer/core/ring.hpp"

namespace nopscope {

inline constexpr std::uint32_t stopped_by_request = 1;  // any core may change it
inline constexpr std::uint32_t stopped_outside = 2;     // of the subtree: only this core changes it
inline constexpr std::uint32_t stopped_absent = 4;      // not joined: only this core changes it

inline std::uint32_t stops_of(const Core& core) {
    return __atomic_load_n(&core.stops, __ATOMIC_SEQ_CST);
}

// A recorder changes this word by exclusives, which must fail if an interrupt has changed it. On
// some CPUs they do not fail after a plain store of the same core. So this is a compare-exchange.
inline void set_sample_next(Core& core, std::uint64_t value) {
    std::uint64_t old = __atomic_load_n(&core.sample_next, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&core.sample_next, &old, value, true, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED)) {
    }
}

// Any context, without a lock. If another context may clear `why`, apply_stops() must follow.
inline void stop_core(Core& core, std::uint32_t why) {
    __atomic_fetch_or(&core.stops, why, __ATOMIC_SEQ_CST);
    __atomic_store_n(&core.limit, 0, __ATOMIC_RELAXED);
    set_sample_next(core, 0);
}

// Makes `limit` agree with the reasons. The lock is held.
template <MachineConcept M>
void apply_stops_locked(M& machine, Core& core) {
    for (;;) {
        const std::uint32_t why = stops_of(core);
        if (why != 0) {
            stop_core(core, 0);
        } else {
            std::uint64_t stopped = 0;  // limit 1: not stopped, but no room until the next line
            __atomic_compare_exchange_n(&core.limit, &stopped, 1, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED);
            ring_set_limit_locked(machine, core);
        }
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        if ((stops_of(core) == 0) == (why == 0)) return;
    }
}
template <MachineConcept M>
void apply_stops(M& machine, Core& core) {
    const Locked locked(machine, core.context_lock);
    apply_stops_locked(machine, core);
}

template <MachineConcept M>
void start_core(M& machine, Core& core, std::uint32_t why) {
    __atomic_fetch_and(&core.stops, ~why, __ATOMIC_SEQ_CST);
    apply_stops(machine, core);
}

}  // namespace nopscope
