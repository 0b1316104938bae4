// SPDX-License-Identifier: Apache-2.0
#include "host-tools/figures/report/target.hpp"

#include <algorithm>
#include <map>

#include "host-tools/figures/report/report.hpp"

namespace nopscope::host {
namespace {

// The functions that the last session moved to the profile, and that were not read since then.
std::vector<std::string> not_read_since(const Report& report, const ProfileReading& reading) {
    std::map<std::uint64_t, const MoveRow*> last;
    for (const MoveRow& row : report.moved) {
        if (row.session == reading.session) last[row.address] = &row;
    }
    std::vector<std::string> names;
    for (const auto& [address, row] : last) {
        const bool read = report.target.read_ns && row->at_ns <= *report.target.read_ns;
        if (row->to_profile && !read) names.push_back(row->name);
    }
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace

void add_moves(Report& report, const Profile& profile, const Places& places) {
    report.adaptive = profile.moved().any_frame();
    report.moves = profile.moved().moves();
    for (const MoveEvent& event : profile.moved().events()) {
        auto row = row_at<MoveRow>(places[event.site_offset]);
        row.at_ns = ticks_to_ns(event.ticks, report.clock_hz);
        row.to_profile = event.to_profile;
        row.session = event.session;
        report.moved.push_back(std::move(row));
    }
}

void add_masked(Report& report, const Profile& profile, const Places& places) {
    for (const Masked& masked : profile.masked()) {
        // The return address of the call that masked them.
        const std::uint64_t address = places.address(static_cast<std::uint64_t>(masked.where));
        auto row = row_at<MaskedRow>(place_of(address, places.around(address - 4)));
        row.at_ns = ticks_to_ns(masked.ticks, report.clock_hz);
        row.length_ns = ticks_to_ns(masked.length, report.clock_hz);
        row.core = masked.core;
        row.session = masked.session;
        report.masked.push_back(std::move(row));
    }
}

void add_target(Report& report, const Profile& profile) {
    const TargetState& state = profile.state();
    const auto ns = [&](std::uint64_t ticks) { return ticks_to_ns(ticks, report.clock_hz); };
    TargetFacts& target = report.target;
    target.known = state.is_known();
    for (const InForceChange& change : state.changes()) {
        target.in_force.push_back(
            {change.recorders, change.mode, ns(change.ticks), change.session});
    }
    if (state.stopped_ticks()) target.stopped_ns = ns(*state.stopped_ticks());
    target.keeps_profile = state.reading().kept;
    if (state.reading().ticks) target.read_ns = ns(*state.reading().ticks);
    target.recursions = state.recursions();
    target.only_there = not_read_since(report, state.reading());
}

}  // namespace nopscope::host
