// SPDX-License-Identifier: Apache-2.0
#include "host-tools/analysis/profile/target_profile.hpp"

#include <algorithm>

#include "host-tools/analysis/profile/prices.hpp"

namespace nopscope::host {

void ProfiledTimes::add(const protocol::ProfileEntry& entry) {
    add(ProfiledTimes{entry.calls(), entry.total, entry.self, entry.min, entry.max,
                      std::to_array(entry.bins)});
}

void ProfiledTimes::add(const ProfiledTimes& other) {
    calls += other.calls;
    total_ticks += other.total_ticks;
    self_ticks = static_cast<std::int64_t>(static_cast<std::uint64_t>(self_ticks) +
                                           static_cast<std::uint64_t>(other.self_ticks));
    min_ticks = std::min(min_ticks, other.min_ticks);
    max_ticks = std::max(max_ticks, other.max_ticks);
    for (std::size_t n = 0; n < bins.size(); ++n) bins[n] += other.bins[n];
}

std::uint64_t ProfiledTimes::percentile(unsigned percent) const {
    std::uint64_t seen = 0;
    for (std::size_t n = 0; n < bins.size(); ++n) {
        seen += bins[n];
        // seen / calls >= percent / 100, without overflow.
        if (seen == 0 || static_cast<double>(seen) * 100 < static_cast<double>(calls) * percent)
            continue;
        return std::clamp((std::uint64_t{1} << n) - 1, std::min(min_ticks, max_ticks), max_ticks);
    }
    return 0;
}

bool TargetProfile::on_frame(unsigned number, const std::uint8_t* payload, std::size_t count,
                             MemoryBudget& budget) {
    protocol::ProfileReader reader(payload, count);
    const protocol::ProfileHeader header = reader.header();
    if (!reader.ok() || header.number == 0) return false;
    ++frames_;
    Core& core = cores_[number];
    if (header.number != core.number) {
        core.next_part = 0;
        if (core.others.calls >= core.others_before.calls) core.others_before = core.others;
        core.others = {};
    }
    const bool in_order =
        header.part == core.next_part && (header.number != core.number || !core.whole);
    core.number = header.number;
    // After a missing part no part is in order until another read-out begins.
    core.next_part = in_order ? header.part + 1 : ~std::uint64_t{0};
    core.whole = in_order && header.last;
    for (protocol::ProfileEntry entry; reader.next(entry);) {
        if (const auto known = core.entries.find(entry.site_offset); known != core.entries.end()) {
            known->second = entry;
        } else if (budget.take(price::profiled)) {
            core.entries.emplace(entry.site_offset, entry);
        } else {
            core.others.add(entry);
        }
    }
    return reader.ok();
}

void TargetProfile::on_session_end(MemoryBudget& budget) {
    for (auto& [number, core] : cores_) {
        last_read_out_ = core.number;
        incomplete_ += !core.whole;
        others_.add(core.others.calls >= core.others_before.calls ? core.others
                                                                  : core.others_before);
        for (const auto& [site, entry] : core.entries) {
            if (entry.calls() == 0) continue;
            if (sum_.contains(site) || budget.take(price::profile_row)) {
                sum_[site].add(entry);
            } else {
                others_.add(entry);
            }
        }
        budget.release(core.entries.size() * price::profiled);
        core.entries = {};
    }
    cores_.clear();
}

}  // namespace nopscope::host
