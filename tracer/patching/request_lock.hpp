// SPDX-License-Identifier: Apache-2.0
// Who may change what is traced, and when: one request at a time on all cores, each made either in
// thread context, or by a pump on top of whatever its core was doing.
//
// A request waits for the other cores (quiescence.hpp) but cannot wait for what it interrupted. So
// on its own core a pump looks first, by the same rule; what it finds in the way passes by itself,
// and the request is tried again by the next pump. And it only tries the lock, whose holder it may
// have interrupted. So of two cores' pumps one goes ahead, and neither waits for the other: the one
// that has not got the lock returns from its interrupt.
#pragma once

#include "tracer/core/cores.hpp"
#include "tracer/patching/quiescence.hpp"

namespace nopscope {

template <MachineConcept M>
class RequestLock {
public:
    constexpr explicit RequestLock(M& machine) : machine_(machine) {}

    // From who may make a request: thread context, or within one, for a request made of several. A
    // core that waits with interrupts masked serves the calls of who holds it.
    void lock() {
        while (!claim()) {
            if (__atomic_load_n(&owner_, __ATOMIC_RELAXED) == machine_.core() + 1) break;
            (void)machine_.synchronize_other_cores();  // serves meanwhile
        }
        ++depth_;
    }
    // From a pump. Not on top of a request of this core's.
    bool try_lock() {
        if (!claim()) return false;
        depth_ = 1;
        return true;
    }
    void unlock() {
        if (--depth_ == 0) __atomic_store_n(&owner_, 0, __ATOMIC_RELEASE);
    }

private:
    bool claim() {
        unsigned nobody = 0;
        return __atomic_compare_exchange_n(&owner_, &nobody, machine_.core() + 1, false,
                                           __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
    }

    M& machine_;
    unsigned owner_ = 0;  // core, plus 1
    unsigned depth_ = 0;  // locks of the owner's
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
