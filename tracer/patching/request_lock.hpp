// SPDX-License-Identifier: Apache-2.0
// The lock for requests that change what is traced. All cores together make one request at a time.
// A task makes it, or a pump, which may have interrupted anything on its core.
//
// A request waits for the other cores (quiescence.hpp), but it cannot wait for code that it
// interrupted itself. So a pump first checks its own core by the same rule. If something is in the
// way, it ends by itself, and the next pump tries the request again. A pump only tries the lock,
// because it may have interrupted the lock's holder. If two cores' pumps compete, one makes its
// request, and the other returns from its interrupt. Neither waits for the other.
#pragma once

#include "tracer/core/cores.hpp"
#include "tracer/patching/quiescence.hpp"

namespace nopscope {

template <MachineConcept M>
class RequestLock {
public:
    constexpr explicit RequestLock(M& machine) : machine_(machine) {}

    // Call in thread context. `who`: the task, not 0. A request that consists of several may lock
    // again. A core that waits here, even with interrupts masked, runs the calls of the lock's
    // holder. Calls waiting() meanwhile: the holder may be a task that this one has preempted.
    template <typename Waiting>
    void lock(std::uintptr_t who, Waiting waiting) {
        while (!claim(who)) {
            if (__atomic_load_n(&owner_, __ATOMIC_RELAXED) == who) break;
            (void)machine_.synchronize_other_cores();  // runs their calls meanwhile
            waiting();
        }
        ++depth_;
    }
    // Call from a pump. False: a task or pump is making a request.
    bool try_lock(std::uintptr_t who) {
        if (!claim(who)) return false;
        depth_ = 1;
        return true;
    }
    void unlock() {
        if (--depth_ == 0) __atomic_store_n(&owner_, 0, __ATOMIC_RELEASE);
    }

private:
    bool claim(std::uintptr_t who) {
        std::uintptr_t nobody = 0;
        return __atomic_compare_exchange_n(&owner_, &nobody, who, false, __ATOMIC_ACQUIRE,
                                           __ATOMIC_RELAXED);
    }

    M& machine_;
    std::uintptr_t owner_ = 0;  // who holds the lock; 0: nobody
    unsigned depth_ = 0;        // how many times the owner has locked
};

template <MachineConcept M>
class Requesting {
public:
    template <typename Waiting>
    Requesting(RequestLock<M>& lock, std::uintptr_t who, Waiting waiting) : lock_(lock) {
        lock_.lock(who, waiting);
    }
    ~Requesting() { lock_.unlock(); }
    Requesting(const Requesting&) = delete;
    Requesting& operator=(const Requesting&) = delete;

private:
    RequestLock<M>& lock_;
};

// Whether a request may be made here: this core has interrupted nothing that the request would wait
// for. `depth`: active exceptions; 0: thread context. `pc`: where that was interrupted, if it was.
template <MachineConcept M>
bool may_request(const Core& core, unsigned depth, Address pc,
                 std::span<const CodeRange> unmarked) {
    for (const std::uint64_t& guard : core.guards) {
        if (__atomic_load_n(&guard, __ATOMIC_RELAXED) == 0) return false;
    }
    if (depth == 0) return core.unguarded == 0;
    return Quiescence<M>::is_outside(core, {.core = 0, .pc = pc, .depth = depth - 1}, unmarked);
}

}  // namespace nopscope
