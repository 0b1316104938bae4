// SPDX-License-Identifier: Apache-2.0
// The data of a timeline, in bounded memory for a recording of any length. Each track (a context of
// a core) has a row for each depth of calls, and all rows have the same slots of time. A slot has
// its longest call, the number of calls that began in it, and the time that calls fill. The
// timeline also keeps the longest calls of all. Which task each core ran is kept likewise. If an
// event lies after the last slot, all slots double their width, so they always cover the whole
// recording.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host-tools/calls/event_sink.hpp"
#include "host-tools/calls/tasks.hpp"

namespace nopscope::host {

class Timeline final : public EventSink {
public:
    static constexpr std::size_t max_rows = 1024;                   // of all tracks together
    static constexpr std::size_t max_depth = 128;                   // rows of a track
    static constexpr std::size_t max_cells = std::size_t{1} << 16;  // rows times slots
    static constexpr std::size_t max_absences = 1024;               // then near ones are joined
    static constexpr std::size_t max_marks = 1024;
    // Limits of a page: slots that have calls, and further longest calls.
    static constexpr std::size_t most_cells = 8000;
    static constexpr std::size_t most_longest = 5000;

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
    void leave(const Track& track, const EndedCall& call) override;
    void point(const Track& track, std::uint32_t function, Nanoseconds now) override;
    void whole(const Track& track, std::uint32_t function, Nanoseconds from, Nanoseconds to,
               std::uint32_t depth) override;
    void absence(std::uint32_t core, const Absence& absence) override;
    void mark(const Track& track, std::uint32_t id, Nanoseconds now) override;
    void console(std::string_view, Nanoseconds) override {}  // no timeline has a place for it
    void finish() override {}

    // The data, of all events so far; views read it. Times are nanoseconds since `origin_`. Only a
    // call of whole() may begin before it.
    struct Call {
        std::int64_t from = 0;
        std::int64_t duration = -1;  // below 0: none
        std::uint32_t function = 0;
        Left how{};
    };
    struct Cell {
        Call longest;
        std::uint64_t busy = 0;   // ns in which a call is open
        std::uint64_t calls = 0;  // that begin in it
    };
    using Row = std::vector<Cell>;
    // A depth of a track: its open call, and counts that are not in the row's slots yet. Most calls
    // lie in the slot of the call before and are not longer than `limit`. They are only counted.
    struct Level {
        std::int64_t from = 0;  // of the open call
        std::uint32_t function = 0;
        std::int64_t begin = 0;  // of the slot
        std::int64_t end = 0;
        std::int64_t limit = -1;
        std::uint64_t busy = 0;
        std::uint64_t calls = 0;
    };
    struct OneTrack {
        Track track;  // without its task, which does not stay
        std::string name;
        std::size_t depth = 0;
        std::vector<Level> levels;  // by depth, at most max_depth
        std::vector<Row> rows;
        std::int64_t now = 0;
        std::vector<std::int64_t> marks_at;
        std::vector<std::uint32_t> marks;
    };
    struct LongCall {
        std::uint32_t track;
        std::uint32_t depth;
        Call call;
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
    // Of a target that names its tasks, or may: what each core ran. A core is a track there, and a
    // task's track is a function. Null: nothing is known.
    const Timeline* scheduler() const {
        return !has_names_ || scheduler_.empty() ? nullptr : &scheduler_.front();
    }
    const std::vector<OneTrack>& tracks() const { return tracks_; }
    const std::vector<LongCall>& longest() const { return longest_; }
    // Whether `longest` has all calls.
    bool has_all_calls() const { return threshold_ < 0; }
    const std::vector<Gaps>& gaps() const { return gaps_; }
    // By function number: key_of(), or 0.
    const std::vector<std::uint64_t>& keys() const { return keys_; }
    std::size_t slots() const { return slots_; }
    unsigned shift() const { return shift_; }  // a slot is 2^shift ns wide
    Nanoseconds origin() const { return origin_; }
    // Of the earliest event; another core's may be before the origin.
    std::int64_t begin() const { return begin_; }
    std::uint64_t calls() const { return calls_; }    // that have ended
    std::uint64_t deeper() const { return deeper_; }  // calls that have no row
    // Whether the tracer's time is cut out of at least one session.
    bool is_cut() const { return cut_; }
    // Adds the level's counts to its slot.
    void settle(Level& level, Row& row) const;

private:
    std::int64_t since_origin(Nanoseconds now);
    // Extends the timeline's begin and the track's end to an event at `now`.
    void extend(OneTrack& on, std::int64_t now);
    void begin_deeper(OneTrack& on, const Level& level);
    void add(std::uint32_t track, std::size_t depth, const Call& call);
    void spread(Row& row, std::int64_t from, std::int64_t to) const;
    void keep(std::uint32_t track, std::size_t depth, const Call& call);
    bool make_row(OneTrack& on, std::size_t depth);
    void widen(std::size_t slots);

    std::vector<OneTrack> tracks_;
    std::vector<Timeline> scheduler_;  // at most one
    std::vector<LongCall> longest_;
    std::int64_t threshold_ = -1;  // only longer calls go into `longest_`
    std::vector<Gaps> gaps_;
    std::vector<std::uint64_t> keys_;
    std::size_t absences_ = 0;
    std::size_t marks_ = 0;
    std::size_t rows_ = 0;
    std::size_t slots_ = 8192;
    unsigned shift_ = 10;
    Nanoseconds origin_ = 0;
    bool has_names_ = false;
    bool expects_names_ = false;
    bool started_ = false;
    bool cut_ = false;
    std::int64_t begin_ = 0;
    std::uint64_t calls_ = 0;
    std::uint64_t deeper_ = 0;
};

}  // namespace nopscope::host
