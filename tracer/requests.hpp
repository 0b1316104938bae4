// SPDX-License-Identifier: Apache-2.0
// Who may change what is traced, and when: one request at a time on all cores, each made either in
// thread context, or by a pump on top of whatever its core was doing.
//
// A request waits for the other cores (quiescence.hpp) but cannot wait for what it interrupted. So on
// its own core a pump looks first, by the same rule; what it finds in the way passes by itself, and the
// request is tried again by the next pump. And it only tries the lock, whose holder it may have
// interrupted. So of two cores' pumps one goes ahead, and neither waits for the other: the one that has
// not got the lock returns from its interrupt.
#pragma once

#include "tracer/quiescence.hpp"

namespace nopscope {

template <MachineConcept M>
class RequestLock {
public:
    constexpr explicit RequestLock(M& machine) : machine_(machine) {}

    // Thread context. A core that waits with interrupts masked serves the calls of who holds it.
    void lock() {
        while (!try_lock()) machine_.synchronize_other_cores();
    }
    bool try_lock() { return __atomic_exchange_n(&taken_, true, __ATOMIC_ACQUIRE) == false; }
    void unlock() { __atomic_store_n(&taken_, false, __ATOMIC_RELEASE); }

private:
    M& machine_;
    bool taken_ = false;
};

template <MachineConcept M>
class Requesting {
public:
    explicit Requesting(RequestLock<M>& lock) : lock_(lock) { lock_.lock(); }
    ~Requesting() { lock_.unlock(); }
    Requesting(const Requesting&) = delete;
    Requesting& operator=(const Requesting&) = delete;

private:
    RequestLock<M>& lock_;
};

inline constexpr unsigned unknown_depth = ~0u;

// Nothing that a request of this core's, made here, would have to wait for lies below. `depth`: of
// exceptions; 0: this is thread context. `pc`: where thread context was interrupted, if it was.
template <MachineConcept M>
bool may_request(const Core& core, unsigned depth, Address pc,
                 std::span<const typename Quiescence<M>::Code> unmarked) {
    for (const std::uint64_t& guard : core.guards) {
        if (__atomic_load_n(&guard, __ATOMIC_RELAXED) == 0) return false;
    }
    if (depth == 0) return core.unguarded == 0;
    return Quiescence<M>::is_outside(core, {.core = 0, .pc = pc, .depth = depth - 1}, unmarked);
}

}  // namespace nopscope
