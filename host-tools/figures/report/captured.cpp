// SPDX-License-Identifier: Apache-2.0
#include "host-tools/figures/report/captured.hpp"

#include <algorithm>

#include "host-tools/calls/event_sink.hpp"
#include "host-tools/figures/report/report.hpp"

namespace nopscope::host {

void add_captured(Report& report, const Profile& profile) {
    for (const auto& [key, series] : profile.captured().of_functions()) {
        auto row = row_at<CapturedRow>(report.by_number[key.first]);
        row.what = captured_name(report.architecture, key.second);
        row.series = series;
        report.captured.push_back(std::move(row));
    }
    std::stable_sort(report.captured.begin(), report.captured.end(),
                     [](const auto& a, const auto& b) { return a.address < b.address; });
    report.counters = profile.captured().counters();
}

void add_marks(Report& report, const Profile& profile) {
    for (const Marker& marker : profile.markers()) {
        report.marks.push_back({.time_ns = ticks_to_ns(marker.ticks, report.clock_hz),
                                .id = marker.id,
                                .core = marker.core,
                                .context = marker.context,
                                .session = marker.session,
                                .function = marker.function == Marker::in_nothing
                                                ? ""
                                                : report.by_number[marker.function].name});
    }
}

}  // namespace nopscope::host
