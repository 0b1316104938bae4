// SPDX-License-Identifier: Apache-2.0
// CountedEvents of PMU events while calls were open: from records, by node of the call tree, and
// from the target's profile, by function.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "host-tools/calls/call_stack.hpp"
#include "host-tools/figures/profile/captured.hpp"
#include "tracer/protocol/profile_events.hpp"

namespace nopscope::host {

struct EventSums {
    std::uint64_t calls = 0;  // that were counted
    std::uint64_t both = 0;   // of `calls`: counted together with another event
    std::uint64_t total = 0;
    std::uint64_t self = 0;  // without calls that have a gap inside: their callees are not known
};
// By event number; a target counts two at a time.
using EventsByNumber = std::map<std::uint32_t, EventSums>;

// The events of ended calls of one context, for the self counts of the calls around them.
class EventChildren {
public:
    // The events added so far for the call at this stack depth. `index`: of its entry's record.
    CountedEvents of(std::size_t depth, std::uint64_t index) const {
        const bool known = depth < sums_.size() && sums_[depth].index == index && sums_[depth].any;
        return known ? sums_[depth].counts : CountedEvents{};
    }
    void add(std::size_t depth, std::uint64_t index, const CountedEvents& counts) {
        if (sums_.size() <= depth) sums_.resize(depth + 1);
        Sum& sum = sums_[depth];
        if (!sum.any || sum.index != index) sum = {index, true, {}};
        for (std::size_t n = 0; n < counts.size(); ++n) sum.counts[n] += counts[n];
    }
    void forget() { sums_.clear(); }
    // The context has moved to another core with these open calls.
    void move(const CallStack& calls) { keep_open(sums_, calls); }

private:
    struct Sum {
        std::uint64_t index = 0;
        bool any = false;
        CountedEvents counts{};
    };
    std::vector<Sum> sums_;
};

// By node of the call tree.
class CallEvents {
public:
    // Further event numbers are left out.
    static constexpr std::size_t max_events = 64;

    // `inside`: the events of the calls inside. `whole`: all of those calls are known. Returns how
    // many counts it left out.
    std::uint64_t add(const WithData& record, std::uint32_t node, const CountedEvents& inside,
                      bool whole, MemoryBudget& budget);
    const std::map<std::uint32_t, std::vector<EventSums>>& by_number() const { return by_number_; }

private:
    std::map<std::uint32_t, std::vector<EventSums>> by_number_;  // event number -> sums by node
};

// By function, from profile_events frames.
class TargetEvents {
public:
    // False: malformed.
    bool on_frame(unsigned core, const std::uint8_t* payload, std::size_t count,
                  MemoryBudget& budget);
    void on_session_end(MemoryBudget& budget);
    // CountedEvents only what the target counts after its last read-out. `budget`: another
    // profile's.
    void zero(MemoryBudget& budget);
    // Functions that the budget refused, counted each time that a frame has them.
    std::uint64_t left_out() const { return left_out_; }
    // By site offset; call it after the last session's end.
    const std::map<std::uint32_t, EventsByNumber>& functions() const { return sum_; }

private:
    struct Key {
        std::uint64_t choice;
        std::uint32_t core, which, site;
        auto operator<=>(const Key&) const = default;
    };
    std::map<Key, protocol::ProfileEventsEntry> last_;  // of this session
    std::map<Key, protocol::ProfileEventsEntry> at_zero_;
    std::map<std::uint32_t, EventsByNumber> sum_;
    std::uint64_t left_out_ = 0;
};

}  // namespace nopscope::host
