// SPDX-License-Identifier: Apache-2.0
#include "host-tools/profile/target_profile.hpp"

#include <algorithm>

namespace nopscope {

void ProfiledTimes::add(const wire::ProfileEntry& entry) {
    calls += entry.calls();
    total_ticks += entry.total;
    self_ticks = static_cast<std::int64_t>(static_cast<std::uint64_t>(self_ticks) +
                                           static_cast<std::uint64_t>(entry.self));
    min_ticks = std::min(min_ticks, entry.min);
    max_ticks = std::max(max_ticks, entry.max);
    for (std::size_t n = 0; n < bins.size(); ++n) bins[n] += entry.bins[n];
}

std::uint64_t ProfiledTimes::percentile(unsigned percent) const {
    std::uint64_t seen = 0;
    for (std::size_t n = 0; n < bins.size(); ++n) {
        seen += bins[n];
        // seen / calls >= percent / 100, without overflow.
        if (seen == 0 || static_cast<double>(seen) * 100 < static_cast<double>(calls) * percent) continue;
        return std::clamp((std::uint64_t{1} << n) - 1, std::min(min_ticks, max_ticks), max_ticks);
    }
    return 0;
}

bool TargetProfile::on_frame(unsigned number, const std::uint8_t* payload, std::size_t count) {
    wire::ProfileReader reader(payload, count);
    const wire::ProfileHeader header = reader.header();
    if (!reader.ok() || header.number == 0) return false;
    ++frames_;
    Core& core = cores_[number];
    if (header.number != core.number) core.next_part = 0;
    const bool in_order = header.part == core.next_part && (header.number != core.number || !core.whole);
    core.number = header.number;
    // After a part that is missing none is the next, until another read-out begins.
    core.next_part = in_order ? header.part + 1 : ~std::uint64_t{0};
    core.whole = in_order && header.last;
    for (wire::ProfileEntry entry; reader.next(entry);) {
        if (core.entries.size() >= max_functions && !core.entries.contains(entry.site_offset)) return false;
        core.entries[entry.site_offset] = entry;
    }
    return reader.ok();
}

void TargetProfile::on_session_end() {
    for (const auto& [number, core] : cores_) {
        last_read_out_ = core.number;
        incomplete_ += !core.whole;
        for (const auto& [site, entry] : core.entries) {
            if (entry.calls() != 0) sum_[site].add(entry);
        }
    }
    cores_.clear();
}

}  // namespace nopscope
