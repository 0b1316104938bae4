// SPDX-License-Identifier: Apache-2.0
#include "host-tools/figures/profile/events.hpp"

#include "host-tools/calls/prices.hpp"

namespace nopscope::host {
namespace {

// What the target has counted since it said `before`.
protocol::ProfileEventsEntry since(protocol::ProfileEventsEntry entry,
                                   const protocol::ProfileEventsEntry& before) {
    if (entry.calls < before.calls) return entry;  // the target has begun anew
    entry.calls -= before.calls;
    for (unsigned n = 0; n < protocol::max_events; ++n) {
        entry.total[n] -= before.total[n];
        entry.self[n] -= before.self[n];
    }
    return entry;
}

}  // namespace

std::uint64_t CallEvents::add(const WithData& record, std::uint32_t node,
                              const CountedEvents& inside, bool whole, MemoryBudget& budget) {
    std::uint64_t left_out = 0;
    const std::uint32_t argument = record.head().argument;
    const CountedEvents counts = counts_of(record);
    const bool both = protocol::event_count(argument) == 2;
    for (unsigned n = 0; n < different_events(argument); ++n) {
        const std::uint32_t number = protocol::event_of(argument, n);
        const auto known = by_number_.find(number);
        if (known == by_number_.end() && by_number_.size() == max_events) {
            ++left_out;
            continue;
        }
        std::vector<EventSums>& nodes =
            known != by_number_.end() ? known->second : by_number_[number];
        if (nodes.size() <= node) {
            // Twice the size: memory has the old and the new vector while it grows.
            if (!budget.take(2 * sizeof(EventSums) * (node + 1 - nodes.size()))) {
                ++left_out;
                continue;
            }
            nodes.resize(node + 1);
        }
        EventSums& sums = nodes[node];
        ++sums.calls;
        sums.both += both;
        sums.total += counts[n];
        if (whole && counts[n] > inside[n]) sums.self += counts[n] - inside[n];
    }
    return left_out;
}

bool TargetEvents::on_frame(unsigned core, const std::uint8_t* payload, std::size_t count,
                            MemoryBudget& budget) {
    protocol::ProfileEventsReader reader(payload, count);
    const protocol::ProfileEventsHeader header = reader.header();
    for (protocol::ProfileEventsEntry entry; reader.next(entry);) {
        const Key key{header.choice, core, header.which, entry.site_offset};
        if (const auto known = last_.find(key); known != last_.end()) {
            known->second = entry;
        } else if (budget.take(price::events_entry)) {
            last_.emplace(key, entry);
        } else {
            ++left_out_;
        }
    }
    return reader.ok();
}

void TargetEvents::zero(MemoryBudget& budget) {
    sum_.clear();
    left_out_ = 0;
    at_zero_ = last_;
    (void)budget.take(last_.size() * price::events_entry);  // they had room before
}

void TargetEvents::on_session_end(MemoryBudget& budget) {
    budget.release(last_.size() * price::events_entry);
    for (const auto& [key, last] : last_) {
        const auto before = at_zero_.find(key);
        const auto entry = before == at_zero_.end() ? last : since(last, before->second);
        if (entry.calls == 0) continue;
        if (!sum_.contains(key.site) && !budget.take(price::events_row)) {
            ++left_out_;
            continue;
        }
        const bool both = protocol::event_count(key.which) == 2;
        for (unsigned n = 0; n < different_events(key.which); ++n) {
            EventSums& sums = sum_[key.site][protocol::event_of(key.which, n)];
            const auto self = static_cast<std::int64_t>(entry.self[n]);
            sums.calls += entry.calls;
            sums.both += both ? entry.calls : 0;
            sums.total += entry.total[n];
            sums.self += self > 0 ? entry.self[n] : 0;
        }
    }
    last_.clear();
    at_zero_.clear();
}

}  // namespace nopscope::host
