// SPDX-License-Identifier: Apache-2.0
#include "host-tools/figures/profile/target_profile.hpp"

#include <algorithm>

#include "host-tools/calls/prices.hpp"

namespace nopscope::host {

namespace {

ProfiledTimes times_of(const protocol::ProfileEntry& entry) {
    return {entry.calls(), entry.total, entry.self,
            entry.min,     entry.max,   std::to_array(entry.bins)};
}

}  // namespace

void ProfiledTimes::add(const protocol::ProfileEntry& entry) { add(times_of(entry)); }

void ProfiledTimes::add(const ProfiledTimes& other) {
    calls += other.calls;
    total_ticks += other.total_ticks;
    self_ticks = static_cast<std::int64_t>(static_cast<std::uint64_t>(self_ticks) +
                                           static_cast<std::uint64_t>(other.self_ticks));
    min_ticks = std::min(min_ticks, other.min_ticks);
    max_ticks = std::max(max_ticks, other.max_ticks);
    for (std::size_t n = 0; n < bins.size(); ++n) bins[n] += other.bins[n];
}

ProfiledTimes ProfiledTimes::since(const ProfiledTimes& before) const {
    ProfiledTimes rest = *this;
    std::size_t first = bins.size(), last = 0;  // bins of the calls since
    for (std::size_t n = 0; n < bins.size(); ++n) {
        if (bins[n] < before.bins[n]) return *this;  // the target has begun anew
        rest.bins[n] -= before.bins[n];
        if (rest.bins[n] == 0) continue;
        first = std::min(first, n);
        last = n;
    }
    rest.calls -= before.calls;
    rest.total_ticks -= before.total_ticks;
    rest.self_ticks = static_cast<std::int64_t>(static_cast<std::uint64_t>(self_ticks) -
                                                static_cast<std::uint64_t>(before.self_ticks));
    if (rest.calls == 0) return {};
    if (min_ticks == before.min_ticks && first != 0)
        rest.min_ticks = std::max(min_ticks, std::uint64_t{1} << (first - 1));
    if (max_ticks == before.max_ticks)
        rest.max_ticks = std::min(max_ticks, (std::uint64_t{1} << last) - 1);
    return rest;
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

void TargetProfile::zero(MemoryBudget& budget) {
    sum_.clear();
    others_ = {};
    incomplete_ = 0;
    for (auto& [number, core] : cores_) {
        core.at_zero = core.entries;
        core.others_at_zero = core.all_others();
        (void)budget.take(core.entries.size() * price::profiled);  // they had room before
    }
}

void TargetProfile::on_session_end(MemoryBudget& budget) {
    for (auto& [number, core] : cores_) {
        last_read_out_ = core.number;
        incomplete_ += !core.whole;
        others_.add(core.all_others().since(core.others_at_zero));
        for (const auto& [site, entry] : core.entries) {
            const auto before = core.at_zero.find(site);
            const ProfiledTimes times = before == core.at_zero.end()
                                            ? times_of(entry)
                                            : times_of(entry).since(times_of(before->second));
            if (times.calls == 0) continue;
            if (sum_.contains(site) || budget.take(price::profile_row)) {
                sum_[site].add(times);
            } else {
                others_.add(times);
            }
        }
        budget.release(core.entries.size() * price::profiled);
    }
    cores_.clear();
}

}  // namespace nopscope::host
