// SPDX-License-Identifier: Apache-2.0
// Charts of a timeline: when interrupts were masked, the values of counters, and how often an event
// of the PMU came in each call. A chart has a point for each record. If the memory is short,
// neighbours become one point, which keeps their least, most and last value: what a chart shows is
// right, only less exact in time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "host-tools/analysis/timeline/call_rows.hpp"

namespace nopscope::host {

enum class ChartKind : std::uint8_t {
    masked,   // of a core; values are nanoseconds
    counter,  // its value
    events,   // of a core and one of the PMU's events; values are counts, each of a call
};

// A record, or neighbours. Times are those of the timeline's calls.
struct ChartPoint {
    std::int64_t from = 0;
    std::int64_t to = 0;
    std::int64_t least = 0;
    std::int64_t most = 0;
    std::int64_t last = 0;
    std::uint32_t function = 0;  // that of `most`
    std::uint32_t records = 1;

    // Makes one point of two. `other` begins later.
    void join(const ChartPoint& other);
};

struct Chart {
    ChartKind kind{};
    std::uint32_t id = 0;               // a counter's, or an event's number
    std::optional<std::uint32_t> core;  // nothing: a counter that several cores set
    std::int64_t least = 0;             // in the whole recording
    std::int64_t most = 0;
    std::uint64_t records = 0;
    std::vector<ChartPoint> points;  // of the picture, in the order of their begins
};

struct ChartPicture {
    std::vector<Chart> charts;  // all, also those without a point in the picture
    bool all = true;            // no points were joined for it
    std::int64_t slot = 1;      // else: points of one slot, which has this width, are one
};

class TimelineCharts {
public:
    static constexpr std::size_t max_series = 1024;
    static constexpr std::size_t max_points = std::size_t{1} << 20;
    static constexpr std::size_t least_points = 1024;  // need no budget
    static constexpr std::uint64_t price_of_point = 64;

    // `bytes`: what the charts may take of a budget at most.
    explicit TimelineCharts(std::uint64_t bytes);

    // Points of a kind, core and id come in the order of time. `budget` has take(), as CallRows.
    // False: there are too many series for one more.
    bool add(ChartKind kind, std::uint32_t id, std::uint32_t core, const ChartPoint& point,
             CallRows& budget);
    bool empty() const { return series_.empty(); }
    // At most about `most` points of all charts. A counter's first point may be before the
    // picture: the value at its begin.
    ChartPicture picture(const TimelineSlots& slots, std::size_t most) const;

private:
    struct Series {
        std::int64_t least = 0;
        std::int64_t most = 0;
        std::uint64_t records = 0;
        std::vector<ChartPoint> points;
    };
    using Key = std::tuple<ChartKind, std::uint32_t, std::uint32_t>;  // kind, id, core

    void join_neighbours();

    std::map<Key, Series> series_;
    std::size_t points_ = 0;
    std::size_t room_ = least_points;
    std::size_t most_room_;
};

}  // namespace nopscope::host
