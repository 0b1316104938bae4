// SPDX-License-Identifier: Apache-2.0
// Converts ticks of a session to nanoseconds, rounded to the nearest, in a dozen instructions.
#pragma once

#include <algorithm>
#include <cstdint>

#include "host-tools/calls/nanoseconds.hpp"

namespace nopscope::host {

// True if the axis of a session's times is without the tracer's time: the program of one core in
// lossless mode stands still while the core waits for the line.
inline bool cuts_tracer_out(const HelloInfo& hello) { return hello.lossless && hello.cores == 1; }

class TickTime {
public:
    // The largest time, about 146 years: a hostile clock's times end here.
    static constexpr std::uint64_t end_of_time = std::uint64_t{1} << 62;

    // This session's times will be later than `latest`, the end of those before. `clock_hz` != 0.
    void begin_session(std::uint64_t clock_hz, std::uint64_t latest) {
        clock_hz_ = clock_hz;
        latest_ = latest;
        started_ = false;
        fast_ticks_ = 0;
    }
    // True if the session's first time is known. Earlier times may still come.
    bool started() const { return started_; }
    [[gnu::always_inline]] std::uint64_t operator()(std::uint64_t clock) {
        const std::uint64_t in_second = clock - second_;
        if (in_second >= fast_ticks_) [[unlikely]]
            return slow(clock);
        return second_ns_ + (in_second * ns_per_second + clock_hz_ / 2) / clock_hz_;
    }

private:
    static constexpr std::uint64_t ns_per_second = 1'000'000'000;
    static constexpr std::uint64_t fast_hz =
        10'000'000'000;  // ticks x 10^9 of a second fit in 64 bits
    // Time between two sessions: the first event that comes need not be the oldest of all cores.
    static constexpr std::uint64_t pause_ns = 1'000'000;

    [[gnu::noinline, gnu::cold]] std::uint64_t slow(std::uint64_t clock) {
        const std::uint64_t own = own_time(clock);
        if (!started_) {
            started_ = true;
            shift_ = latest_ != 0 && own < latest_ + pause_ns ? latest_ + pause_ns - own : 0;
        }
        const std::uint64_t second = clock - clock % clock_hz_;
        fast_ticks_ = clock_hz_ <= fast_hz && own < end_of_time ? clock_hz_ : 0;
        second_ = second;
        second_ns_ = std::min(end_of_time, shift_ + own_time(second));
        return std::min(end_of_time, shift_ + own);
    }
    std::uint64_t own_time(std::uint64_t clock) const {
        return clock / clock_hz_ >= end_of_time / ns_per_second ? end_of_time
                                                                : ticks_to_ns(clock, clock_hz_);
    }

    std::uint64_t clock_hz_ = 1;
    std::uint64_t second_ = 0;      // ticks: the begin of the last clock's second
    std::uint64_t fast_ticks_ = 0;  // length of the fast path after `second_`, ticks
    std::uint64_t second_ns_ = 0;
    std::uint64_t shift_ = 0;
    std::uint64_t latest_ = 0;
    bool started_ = false;
};

}  // namespace nopscope::host
