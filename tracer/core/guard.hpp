// SPDX-License-Identifier: Apache-2.0
// Takes the guard of this core and interrupt depth; callbacks.S does it on the hot path. While it
// is taken, callbacks of this context are left out, and synchronize() waits (quiescence.hpp).
#pragma once

#include "tracer/core/core.hpp"

namespace nopscope {

class Guard {
public:
    // An interrupt of this core takes the guard of its own depth, so they cannot conflict.
    explicit Guard(Core& core)
        : guard_(core.guards[*reinterpret_cast<const volatile std::uint32_t*>(core.depth)]),
          taken_(guard_ != 0) {
        if (!taken_) return;
        __atomic_store_n(&guard_, 0, __ATOMIC_RELAXED);
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
    }
    ~Guard() {
        if (taken_)
            __atomic_store_n(&guard_, reinterpret_cast<std::uintptr_t>(&guard_), __ATOMIC_RELEASE);
    }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

    // False: an outer callback had taken it already.
    bool taken() const { return taken_; }

private:
    std::uint64_t& guard_;
    const bool taken_;
};

}  // namespace nopscope
