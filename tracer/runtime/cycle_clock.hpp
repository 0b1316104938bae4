// SPDX-License-Identifier: Apache-2.0
// An image may record a core's cycles in place of the timer's ticks, which may be coarse
// (arch::clock_is_cycles). Each core has a counter, which stops while the core waits for an
// interrupt and follows the core's frequency (docs/limits.md). join() sets it to core 0's value.
#pragma once

#include "tracer/arch/machine.hpp"
#include "tracer/arch/system.hpp"
#include "tracer/protocol/hello.hpp"

namespace nopscope {

// Both counters at one instant.
struct ClockPair {
    std::uint64_t ticks = 0;   // arch::read_ticks()
    std::uint64_t cycles = 0;  // arch::read_cycles()

    // Reads both right after the timer has changed, because it may be slow. Returns the closest
    // pair of a few, because an interrupt may come in between.
    static ClockPair read() {
        ClockPair closest;
        std::uint64_t least = ~std::uint64_t{0};
        for (unsigned tries = 0; tries < 4; ++tries) {
            const std::uint64_t before = arch::read_ticks();
            ClockPair now;
            do {
                now.ticks = arch::read_ticks();
                now.cycles = arch::read_cycles();
            } while (now.ticks == before);
            const std::uint64_t taken = arch::read_ticks() - now.ticks;
            if (taken >= least) continue;
            least = taken;
            closest = now;
        }
        return closest;
    }
};

class CycleClock {
public:
    // Call it once, on core 0. Measures for a millisecond, and replaces the timer's rate in hello
    // by that of the cycles. False: this CPU has no cycle counter.
    bool open(protocol::Hello& hello) {
        const std::uint64_t ticks_hz = hello.clock_hz;
        if (!arch::has_cycle_counter()) return false;
        arch::start_cycles();
        const ClockPair begin = ClockPair::read();
        do {
            first_ = ClockPair::read();
        } while (first_.ticks - begin.ticks < ticks_hz / 1000);
        ticks_hz_ = ticks_hz;
        hello.clock = protocol::Clock::cycles;
        hello.clock_hz = hz_ =
            scaled(ticks_hz, first_.cycles - begin.cycles, first_.ticks - begin.ticks);
        return true;
    }
    // Call it on each other core before it records. If core 0 does not answer, it uses core 0's
    // value at open(): correct if that core has run at one frequency and never waited.
    template <MachineConcept M>
    void join(M& machine) const {
        arch::start_cycles();
        ClockPair core_0 = first_;
        machine.run_on_other_cores(
            [](void* pair, const Interrupted& here) {
                if (here.core == 0) *static_cast<ClockPair*>(pair) = ClockPair::read();
            },
            &core_0);
        const ClockPair now = ClockPair::read();
        arch::write_cycles(core_0.cycles + scaled(now.ticks - core_0.ticks, hz_, ticks_hz_) +
                           (arch::read_cycles() - now.cycles));
    }

private:
    // a * b / c, rounded down, without a product of 128 bits. The result must fit in 64 bits.
    static std::uint64_t scaled(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
        return a / c * b + a % c * (b / c) + a % c * (b % c) / c;
    }

    ClockPair first_;
    std::uint64_t ticks_hz_ = 1;
    std::uint64_t hz_ = 1;
};

}  // namespace nopscope
