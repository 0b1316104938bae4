// SPDX-License-Identifier: Apache-2.0
// A recording's timeline. Each track (a context of a core) has a row for each depth of calls, and
// the rows have all calls (call_rows.hpp), as long as there is memory. json() gives a picture of
// the whole recording or of a part. Which task each core ran is kept likewise. timeline_charts.hpp
// has what is not a call.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "host-tools/analysis/events/event_sink.hpp"
#include "host-tools/analysis/profile/tasks.hpp"
#include "host-tools/analysis/report/json.hpp"
#include "host-tools/analysis/timeline/call_list.hpp"
#include "host-tools/analysis/timeline/timeline_charts.hpp"

namespace nopscope::host {

class Timeline final : public EventSink {
public:
    static constexpr std::size_t max_depth = 512;      // rows of a track
    static constexpr std::size_t max_absences = 1024;  // then near ones are joined
    static constexpr std::size_t max_marks = 1024;
    static constexpr std::size_t max_names = 4096;  // of functions that only charts name

    // What json() shows. If the calls are too many for the limits, it has the longest of each slot,
    // the `most_longest` longest, and for each slot how many there are.
    struct Picture {
        std::int64_t from = 0;          // ns since the timeline's begin
        std::int64_t to = 0;            // 0: the end
        std::size_t slots = 2048;       // of a row
        std::size_t most_cells = 8000;  // slots of all rows that have calls; points of all charts
        std::size_t most_longest = 5000;
    };

    // `budget`: for the calls, and up to a quarter of it for the charts.
    explicit Timeline(MemoryBudget budget = MemoryBudget(0.15))
        : rows_(budget), charts_(budget.left() / 4) {}

    void on_function(std::uint32_t number, const FunctionPlace& place) override;
    void on_track(const Track& track) override;
    bool wants_tasks() const override { return true; }
    void on_named_tasks() override { has_names_ = true; }
    // For a line, whose target tells the names later: keeps what each core ran until then. Call it
    // first.
    void expect_names() { expects_names_ = true; }
    // Tracks and the tasks that cores ran have these names from now on. Of a number that was
    // another task in another session there is none.
    void name_tasks(const Tasks& tasks);
    void on_switch(const CoreSwitch& to) override;
    void on_axis(TimeAxis axis) override { cut_ |= axis == TimeAxis::without_tracer; }
    void entry(const Track& track, std::uint32_t function, Nanoseconds now) override;
    void leave(const Track& track, std::uint32_t function, Nanoseconds now, Left how) override;
    void point(const Track& track, std::uint32_t function, Nanoseconds now) override;
    void whole(const Track& track, std::uint32_t function, Nanoseconds from, Nanoseconds to,
               std::uint32_t depth) override;
    void absence(std::uint32_t core, const Absence& absence) override;
    void mark(const Track& track, std::uint32_t id, Nanoseconds now) override;
    void counter(const Track& track, std::uint32_t id, std::int64_t value,
                 Nanoseconds now) override;
    void events(const Track& track, std::uint32_t function, std::span<const EventCount> counts,
                Nanoseconds now) override;
    void masked(const Track& track, std::uint32_t function, Nanoseconds from,
                Nanoseconds to) override;
    void console(std::string_view, Nanoseconds) override {}  // no timeline has a place for it
    void finish() override {}

    // The view's section `timeline` (web/src/timeline_model.ts), of all events so far. An open call
    // ends with its track's last event.
    Json json(const PositionOf& position, const Picture& picture) const;
    Json json(const PositionOf& position) const { return json(position, Picture()); }

    // All calls, or those of some functions and tracks, in the order of their begins. Use it after
    // finish(); it is valid as long as no event follows. Open calls are not in it. `tracks`:
    // positions in the JSON's tracks.
    CallList calls(std::optional<FunctionSet> functions = std::nullopt,
                   const std::optional<std::set<std::int64_t>>& tracks = std::nullopt) const;
    // A function's number in the JSON: its position, or below 0 that of another entry (model.ts).
    std::int64_t number_of(std::uint64_t function, const PositionOf& position) const;
    // The functions that have one of these numbers.
    FunctionSet functions_of(const std::set<std::int64_t>& numbers,
                             const PositionOf& position) const;
    // What the JSON's times count from, on the axis of calls().
    std::int64_t begin() const { return begin_; }
    // Calls that are in no row, because they are too deep, and those of which only sums are left.
    std::uint64_t deeper() const { return deeper_; }
    std::uint64_t summed() const { return rows_.forgotten(); }

private:
    // Times are nanoseconds since `origin_`. Only a call of whole() may begin before it.
    struct Level {  // the open call of a depth
        std::int64_t from = 0;
        std::uint32_t function = 0;
    };
    struct OneTrack {
        Track track;  // without its task, which does not stay
        std::string name;
        std::size_t depth = 0;
        std::vector<Level> levels;        // by depth, at most max_depth
        std::vector<std::uint32_t> rows;  // by depth; in `rows_`
        std::int64_t now = 0;
        std::vector<std::int64_t> marks_at;
        std::vector<std::uint32_t> marks;
    };
    struct Gap {
        Absence absence;
        std::uint64_t parts = 1;
    };
    struct Gaps {  // of a core and of one kind of Absence
        std::uint32_t core = 0;
        bool dropped = false;
        std::vector<Gap> list;
    };
    // What json() shows.
    struct Selection {
        TimelineSlots slots;
        std::vector<std::vector<std::vector<TimelineCell>>> cells;  // by track and depth; or none
        std::vector<PlacedCall> calls;                              // by track, depth, time
    };

    std::int64_t since_origin(Nanoseconds now);
    // Extends the timeline's begin and the track's end to an event at `now`.
    void begin(OneTrack& on, std::int64_t now);
    void begin_deeper(OneTrack& on, const Level& level);
    void add(OneTrack& on, std::size_t depth, const TimelineCall& call);
    bool make_row(OneTrack& on, std::size_t depth);
    bool take_all(Selection& selection, std::size_t most) const;
    void take_cells(Selection& selection, const Picture& picture) const;
    Selection selection(const Picture& picture) const;
    std::int64_t now() const;
    Json json_bands() const;
    Json json_tracks(const Selection& shown, const PositionOf& position,
                     std::uint64_t& drawn) const;
    Json json_scheduler(const Picture& picture) const;
    Json json_charts(const TimelineSlots& slots, std::size_t most,
                     const PositionOf& position) const;
    std::int64_t at_event(const Track& track, Nanoseconds now);

    std::vector<OneTrack> tracks_;
    // Of a target that names its tasks, or may: what each core ran. A core is a track there, and a
    // task's track is a function. At most one.
    std::vector<Timeline> scheduler_;
    std::vector<Gaps> gaps_;
    std::vector<std::uint64_t> keys_;  // by function number: key_of(), or 0
    std::size_t absences_ = 0;
    std::size_t marks_ = 0;
    CallRows rows_;
    TimelineCharts charts_;
    std::map<std::uint32_t, std::string> names_;  // of functions that may be in no list
    Nanoseconds origin_ = 0;
    bool has_names_ = false;
    bool expects_names_ = false;
    bool started_ = false;
    bool cut_ = false;        // the tracer's time is cut out of at least one session
    std::int64_t begin_ = 0;  // of the earliest event; another core's may be before the origin
    std::uint64_t calls_ = 0;
    std::uint64_t deeper_ = 0;  // calls that have no row
};

}  // namespace nopscope::host
