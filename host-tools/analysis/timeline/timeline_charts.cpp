// SPDX-License-Identifier: Apache-2.0
#include "host-tools/analysis/timeline/timeline_charts.hpp"

#include <algorithm>
#include <utility>

namespace nopscope::host {
namespace {

using Points = std::vector<ChartPoint>;

// Those that lie in the picture, at least in part.
std::pair<Points::const_iterator, Points::const_iterator> inside(const Points& points,
                                                                 const TimelineSlots& slots) {
    const auto begin = std::partition_point(
        points.begin(), points.end(), [&](const ChartPoint& one) { return one.to < slots.from; });
    const auto end = std::partition_point(
        begin, points.end(), [&](const ChartPoint& one) { return one.from < slots.to; });
    return {begin, end};
}

// Makes one point of all that begin in the same slot.
void join_in_slots(Points& points, const TimelineSlots& slots) {
    if (points.empty()) return;
    // What begins before the picture is not joined with what begins in it.
    const auto slot = [&](const ChartPoint& one) {
        return one.from < slots.from ? -1 : (one.from - slots.from) / slots.width;
    };
    std::size_t kept = 0;
    std::int64_t last = slot(points[0]);
    for (std::size_t at = 1; at < points.size(); ++at) {
        const std::int64_t of = slot(points[at]);
        if (of == last && of >= 0) {
            points[kept].join(points[at]);
        } else {
            points[++kept] = points[at];
        }
        last = of;
    }
    points.resize(kept + 1);
}

std::size_t count(const ChartPicture& picture) {
    std::size_t points = 0;
    for (const Chart& chart : picture.charts) points += chart.points.size();
    return points;
}

}  // namespace

void ChartPoint::join(const ChartPoint& other) {
    if (other.to >= to) last = other.last;
    to = std::max(to, other.to);
    least = std::min(least, other.least);
    if (other.most > most) {
        most = other.most;
        function = other.function;
    }
    records += other.records;
}

TimelineCharts::TimelineCharts(std::uint64_t bytes)
    : most_room_(static_cast<std::size_t>(
          std::clamp<std::uint64_t>(bytes / price_of_point, least_points, max_points))) {}

bool TimelineCharts::add(ChartKind kind, std::uint32_t id, std::uint32_t core,
                         const ChartPoint& point, CallRows& budget) {
    const Key key{kind, id, core};
    auto found = series_.find(key);
    if (found == series_.end()) {
        if (series_.size() == max_series) return false;
        found = series_.try_emplace(key, Series{point.least, point.most, 0, {}}).first;
    }
    Series& series = found->second;
    series.least = std::min(series.least, point.least);
    series.most = std::max(series.most, point.most);
    ++series.records;
    series.points.push_back(point);
    if (++points_ <= room_) return true;
    const std::size_t more = std::min(room_, most_room_ - room_);
    if (more != 0 && budget.take(more * price_of_point)) {
        room_ += more;
    } else {
        join_neighbours();
    }
    return true;
}

// Joins points of the series that has most: those that are nearest to each other, at least a
// quarter.
void TimelineCharts::join_neighbours() {
    auto& points =
        std::max_element(series_.begin(), series_.end(), [](const auto& a, const auto& b) {
            return a.second.points.size() < b.second.points.size();
        })->second.points;
    if (points.size() < 2) return;
    points_ -= points.size();
    std::vector<std::int64_t> widths;
    for (std::size_t at = 1; at < points.size(); ++at)
        widths.push_back(points[at].to - points[at - 1].from);
    const auto middle = widths.begin() + static_cast<std::ptrdiff_t>(widths.size() / 2);
    std::nth_element(widths.begin(), middle, widths.end());
    std::size_t kept = 0;
    for (std::size_t at = 1; at < points.size(); ++at) {
        if (points[at].to - points[kept].from <= *middle) {
            points[kept].join(points[at]);
        } else {
            points[++kept] = points[at];
        }
    }
    points.resize(kept + 1);
    points_ += points.size();
}

ChartPicture TimelineCharts::picture(const TimelineSlots& slots, std::size_t most) const {
    ChartPicture out;
    out.slot = slots.width;
    for (auto next = series_.begin(); next != series_.end();) {
        const auto [kind, id, first_core] = next->first;
        Chart chart{kind, id, first_core, next->second.least, next->second.most, 0, {}};
        std::optional<ChartPoint> before;  // of a counter: what set its value at the begin
        // A counter is one, whichever core sets it.
        for (; next != series_.end(); ++next) {
            const auto& [its_kind, its_id, core] = next->first;
            if (its_kind != kind || its_id != id) break;
            if (core != first_core && kind != ChartKind::counter) break;
            if (core != first_core) chart.core.reset();
            const Series& series = next->second;
            chart.least = std::min(chart.least, series.least);
            chart.most = std::max(chart.most, series.most);
            chart.records += series.records;
            const auto [begin, end] = inside(series.points, slots);
            chart.points.insert(chart.points.end(), begin, end);
            if (begin != series.points.begin() && (!before || before->to < (begin - 1)->to))
                before = *(begin - 1);
        }
        if (!chart.core) {
            std::stable_sort(chart.points.begin(), chart.points.end(),
                             [](const auto& a, const auto& b) { return a.from < b.from; });
        }
        if (kind == ChartKind::counter && before) {
            chart.points.insert(chart.points.begin(),
                                {before->to, before->to, before->last, before->last, before->last});
        }
        out.charts.push_back(std::move(chart));
    }
    TimelineSlots wide = slots;
    while (count(out) > most && (out.all || wide.count() > 1)) {
        if (!std::exchange(out.all, false)) wide.width *= 2;
        for (Chart& chart : out.charts) join_in_slots(chart.points, wide);
    }
    out.slot = wide.width;
    return out;
}

}  // namespace nopscope::host
