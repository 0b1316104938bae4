// SPDX-License-Identifier: Apache-2.0
// Takes the guard of the running context and interrupt depth; callbacks.S does it on the hot path.
// While it is taken, callbacks of this context are left out, and synchronize() waits
// (quiescence.hpp). The task that holds it may be preempted and moved to another core.
#pragma once

#include "tracer/core/here.hpp"

namespace nopscope {

class Guard {
public:
    // An interrupt of this core takes the guard of its own depth, so they cannot conflict.
    Guard() {
        const Here here;
        std::uint64_t& guard = guard_of(here.core());
        taken_ = guard != 0;
        if (taken_) __atomic_store_n(&guard, 0, __ATOMIC_RELAXED);
    }
    ~Guard() {
        if (!taken_) return;
        const Here here;
        std::uint64_t& guard = guard_of(here.core());
        __atomic_store_n(&guard, reinterpret_cast<std::uintptr_t>(&guard), __ATOMIC_RELEASE);
    }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

    // False: an outer callback had taken it already.
    bool taken() const { return taken_; }

private:
    static std::uint64_t& guard_of(Core& core) {
        return core.guards[*reinterpret_cast<const volatile std::uint32_t*>(core.depth)];
    }
    bool taken_;
};

}  // namespace nopscope
