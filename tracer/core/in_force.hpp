// SPDX-License-Identifier: Apache-2.0
// Which recorders are in use, since when, and whether stop() was called: for stats frames.
#pragma once

#include <cstdint>

namespace nopscope {

// Any context writes, without a lock, and then asks for stats frames; the pump reads. If the pump
// makes a frame between two stores, the next frame corrects it.
class InForce {
public:
    // `recorders`: bit n is the recorder of protocol::overhead_index() n.
    void set_recorders(std::uint32_t recorders, std::uint64_t now) {
        __atomic_store_n(&since_, now, __ATOMIC_RELAXED);
        __atomic_store_n(&recorders_, recorders, __ATOMIC_RELEASE);
    }
    std::uint32_t recorders() const { return __atomic_load_n(&recorders_, __ATOMIC_ACQUIRE); }
    std::uint64_t since() const { return __atomic_load_n(&since_, __ATOMIC_RELAXED); }

    // `clock`: when all cores had stopped; 0: recording was started again.
    void set_stopped_at(std::uint64_t clock) {
        __atomic_store_n(&stopped_at_, clock, __ATOMIC_RELAXED);
    }
    std::uint64_t stopped_at() const { return __atomic_load_n(&stopped_at_, __ATOMIC_RELAXED); }

private:
    std::uint64_t since_ = 0;  // clock
    std::uint64_t stopped_at_ = 0;
    std::uint32_t recorders_ = 0;
};

}  // namespace nopscope
