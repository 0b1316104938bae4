// SPDX-License-Identifier: Apache-2.0
// State that a decoder keeps to read duration records: the record until its data has come, and when
// the clock of calls stood still. A duration record counts on the target's clock, which never does.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "host-tools/calls/call.hpp"

namespace nopscope::host {

// A duration record: head, site, ticks.
struct DurationRecord {
    unsigned wanted = 0;  // data records
    std::uint32_t depth = 0;
    std::uint32_t site = 0;
    Ticks ticks = 0;

    // True: the record is complete. Ignores the data of other records.
    bool data(std::uint64_t value) {
        if (wanted == 2) site = static_cast<std::uint32_t>(value) << 3;
        if (wanted == 1) ticks = value;
        return wanted != 0 && --wanted == 0;
    }
};

// The sums of ticks that the clock of calls has stood still, after each stop. If there are too
// many, it forgets the shorter half of the older ones. So a call with thousands of short stops
// inside, as a chain of tail calls has, keeps those right before its begin, unless they are as
// short.
class Stops {
public:
    void remember(std::uint64_t clock, Ticks sum) {
        if (last_.size() == max_stops) forget_some();
        last_.push_back({clock, sum});
    }
    Ticks before(std::uint64_t clock) const {
        auto stop = last_.rbegin();
        while (stop != last_.rend() && not_negative(stop->clock - clock) != 0) ++stop;
        return stop == last_.rend() ? forgotten_ : stop->sum;
    }
    void restart(Ticks sum) {
        last_.clear();
        forgotten_ = sum;
    }
    // The sums count from another time.
    void shift(Ticks by) {
        for (Stop& stop : last_) stop.sum += by;
        forgotten_ += by;
    }

private:
    static constexpr std::size_t max_stops = 256;
    void forget_some() {
        std::array<Ticks, max_stops / 2> lengths;  // of the older stops
        Ticks before = forgotten_;
        for (std::size_t at = 0; at < lengths.size(); ++at)
            lengths[at] = last_[at].sum - std::exchange(before, last_[at].sum);
        auto ordered = lengths;
        const auto middle = ordered.begin() + ordered.size() / 2;
        std::nth_element(ordered.begin(), middle, ordered.end());
        std::size_t at = 0;
        std::erase_if(last_, [&](const Stop&) {
            const std::size_t here = at++;
            return here < lengths.size() && lengths[here] <= *middle;
        });
    }
    struct Stop {
        std::uint64_t clock;
        Ticks sum;
    };
    std::vector<Stop> last_;
    Ticks forgotten_ = 0;
};

// The last times in other contexts and in gaps, until a duration record's call takes them.
class Away {
public:
    void add(Ticks ticks, Ticks at) {
        if (last_.size() == max_kept) last_.pop_front();
        last_.push_back({ticks, at});
    }
    // Takes the times since a call's begin. If the call began in a gap, the time before stays.
    Ticks take(Ticks begin) {
        Ticks sum = 0;
        for (; !last_.empty() && not_negative(last_.back().at - begin) != 0; last_.pop_back()) {
            Time& last = last_.back();
            const Ticks inside = std::min(last.ticks, last.at - begin);
            sum += inside;
            if (inside == last.ticks) continue;
            last = {last.ticks - inside, begin};
            break;
        }
        return sum;
    }
    // What take() would take.
    Ticks since(Ticks begin) const {
        Ticks sum = 0;
        for (auto time = last_.rbegin(); time != last_.rend(); ++time) {
            if (not_negative(time->at - begin) == 0) break;
            sum += std::min(time->ticks, time->at - begin);
        }
        return sum;
    }
    void forget() { last_.clear(); }
    void shift(Ticks by) {
        for (Time& time : last_) time.at += by;
    }

private:
    static constexpr std::size_t max_kept = 256;
    struct Time {
        Ticks ticks;
        Ticks at;  // its end
    };
    std::deque<Time> last_;
};

}  // namespace nopscope::host
