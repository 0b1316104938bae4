// SPDX-License-Identifier: Apache-2.0
// The interface of formats that have a recording's events one by one. They get a *balanced* stream:
// on each track every leave() ends the innermost entry(), every entry has its leave, and time does
// not go back. calls/call_feed.hpp makes such a stream, also of a recording with losses.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "host-tools/calls/places.hpp"
#include "host-tools/line/stream/session.hpp"
#include "tracer/protocol/record.hpp"

namespace nopscope::host {

// Nanoseconds of the target's clock, on one axis for all cores. A session begins after the end of
// the one before, whatever its clock says. A tick is rounded to the nearest nanosecond.
using Nanoseconds = std::uint64_t;

enum class TimeAxis : std::uint8_t {
    wall,            // the target's clock runs on while a core works for the tracer
    without_tracer,  // it stands still then; for recordings of one core only
};
// The sentence in which a format describes its times.
const char* times_text(TimeAxis axis);

// A ClockPair on the axis of the stamps.
struct TimePair {
    Nanoseconds time = 0;
    std::uint64_t utc_ns = 0;  // since 1970
    std::uint64_t error_ns = 0;
    bool exchanged = false;  // true: the error is certain
};
// "52000 ns is 1763834000123456789 ns UTC, within 800 ns".
std::string time_pair_text(const TimePair& pair);
// {"ns":52000,"utc_ns":1763834000123456789,"error_ns":800,"exchanged":true}
std::string time_pair_json(const TimePair& pair);

// What the target tells of a context. task_labels.hpp makes it.
struct TaskOfTrack {
    std::string label;  // outside text
    std::uint64_t priority = 0;
    bool runs_interrupts = false;
};

// One context of a core. Its calls lie inside each other or do not overlap.
struct Track {
    std::uint32_t number = 0;  // from 0, in order of appearance
    std::uint32_t core = 0;
    std::uint32_t context = 0;
    const TaskOfTrack* task = nullptr;  // null: the target names no task
};
// Its task's label, which is outside text. Of a target that names no task "core 0, context 7";
// without a number for protocol::several_contexts.
std::string track_name(const Track& track);

// From now on a core runs another context.
struct CoreSwitch {
    std::uint32_t core = 0;
    std::optional<Track> from;  // nothing: it is not known what ran before
    std::optional<Track> to;    // nothing: it is not known what runs, until the next switch
    Nanoseconds at = 0;
    protocol::Left how = protocol::Left::unknown;  // the core left `from`
};

// Numbers on a track that do not stand for a traced function of the firmware.
inline constexpr std::uint32_t first_own_function = 1u << 19;
inline constexpr std::uint32_t tracer_function =
    first_own_function;  // the core worked for the tracer
inline constexpr std::uint32_t away_function = first_own_function + 1;  // it ran another context
inline constexpr std::uint32_t first_sampled_function = first_own_function + 2;  // only in samples

enum class Left : std::uint8_t {
    returned,
    unwound,  // by longjmp or an exception
    gap,      // a gap follows: the call may have gone on
    open,     // the session, or the part that is shown, ended first
};
const char* left_text(Left how);

// Records of a core that are not in the recording.
struct Absence {
    Nanoseconds from = 0;  // not before the end of the core's last absence of the same kind
    Nanoseconds to = 0;
    std::uint64_t lost = 0;
    std::uint64_t overwritten = 0;
    std::uint64_t dropped = 0;  // a kind of its own if `lost` and `overwritten` are 0
};

// A register at a function's entry (0..7), or its result (8).
struct CapturedValue {
    std::uint32_t function = 0;
    std::uint32_t what = 0;
    std::int64_t value = 0;
    const char* name = "";  // captured_name()
};
// "x0" to "x7", "result"
const char* captured_name(protocol::Architecture architecture, std::uint32_t what);

// How often one of the PMU's events came between a call's entry and its return.
struct EventCount {
    std::uint32_t number = 0;  // the Arm ARM's; event_name() names it
    std::uint64_t count = 0;
};
// Replaces a NUL by \x00: Perfetto ends a name at it.
std::string without_nul(std::string_view text);

// Items that a format may leave out. The sink counts them for a message at the end.
enum class LeftOut : std::uint8_t {
    points,
    whole,
    absences,
    marks,
    counters,
    values,
    samples,
    console,
    events,
    masked
};
inline constexpr std::size_t left_out_kinds = 10;

// A call that is over, or a stretch of the tracer's time or another context's.
struct EndedCall {
    std::uint64_t number = 0;  // from 1, in order of entry
    std::uint64_t parent = 0;  // 0: none
    std::uint32_t function = 0;
    std::uint32_t depth = 0;  // calls around it
    Nanoseconds from = 0;
    Nanoseconds to = 0;
    Nanoseconds duration = 0;  // `to` - `from` less the tracer's time, as in `report --raw`
    Nanoseconds self = 0;      // less the calls inside
    Nanoseconds cpu = 0;       // `duration` less the times in which the task did not run
    Left how{};
};

struct Report;

class EventSink {
public:
    virtual ~EventSink() = default;

    // Called for each function and track before its first use.
    virtual void on_function(std::uint32_t number, const FunctionPlace& place) = 0;
    virtual void on_track(const Track&) {}
    // The time of the recording's first record, which times in texts count from. Before all events.
    virtual void on_origin(Nanoseconds) {}
    // Only a part of the recording follows. `part` is text for people. Before everything else.
    virtual void on_shown_part(const std::string& /*part*/) {}
    // What a session's target says of itself, and the session's axis: wall or without_tracer. Both
    // come before each session's first event.
    virtual void on_target(const HelloInfo&) {}
    virtual void on_axis(TimeAxis) {}
    // A core's first switch has no `from`. A gap, and the end of a session or of the part that is
    // shown, are switches without a `to`.
    virtual void on_switch(const CoreSwitch&) {}
    // Code on `by` made a task ready to run.
    virtual void on_ready(const Track& /*by*/, const Track& /*task*/, Nanoseconds) {}

    virtual void entry(const Track&, std::uint32_t /*function*/, Nanoseconds) {}
    virtual void leave(const Track& track, const EndedCall& call) = 0;
    // A function was entered; its duration is unknown (the function recorder's calls).
    virtual void point(const Track&, std::uint32_t /*function*/, Nanoseconds) {
        leave_out(LeftOut::points);
    }
    // A call with a record at its end only. The calls inside came before. `depth`: calls around it.
    virtual void whole(const Track&, std::uint32_t /*function*/, Nanoseconds /*from*/,
                       Nanoseconds /*to*/, std::uint32_t /*depth*/) {
        leave_out(LeftOut::whole);
    }
    virtual void absence(std::uint32_t /*core*/, const Absence&) { leave_out(LeftOut::absences); }
    virtual void mark(const Track&, std::uint32_t /*id*/, Nanoseconds) {
        leave_out(LeftOut::marks);
    }
    virtual void counter(const Track&, std::uint32_t /*id*/, std::int64_t /*value*/, Nanoseconds) {
        leave_out(LeftOut::counters);
    }
    virtual void value(const Track&, const CapturedValue&, Nanoseconds) {
        leave_out(LeftOut::values);
    }
    // Of the call that the track's last leave() ended, which is of `function`.
    virtual void events(const Track&, std::uint32_t /*function*/, std::span<const EventCount>,
                        Nanoseconds) {
        leave_out(LeftOut::events);
    }
    // `function` masked the core's interrupts for longer than ever before in the session. These
    // times of a core do not overlap.
    virtual void masked(const Track&, std::uint32_t /*function*/, Nanoseconds /*from*/,
                        Nanoseconds /*to*/) {
        leave_out(LeftOut::masked);
    }
    // `path`: functions, the outermost first.
    virtual void sample(const Track&, std::span<const std::uint32_t> /*path*/, Nanoseconds) {
        leave_out(LeftOut::samples);
    }
    // The target's bytes; `now` is the time of the last event of core 0 before it.
    virtual void console(std::string_view /*bytes*/, Nanoseconds /*now*/) {
        leave_out(LeftOut::console);
    }
    // Never called with TimeAxis::without_tracer. A format without a place for pairs ignores them.
    virtual void time_pair(const TimePair&) {}
    // True: the tracks shall have their tasks, if the recording can be read twice.
    virtual bool wants_tasks() const { return false; }
    // Each track will have its task. Before the first track; not if the target names no task.
    virtual void on_named_tasks() {}
    // A format that also shows the report's sums gets them after the last event.
    virtual bool wants_sums() const { return false; }
    virtual void sums(const Report&) {}
    // Writes the end of the file. The last call.
    virtual void finish() = 0;

    // One sentence: "3 samples and 7 counter values"; empty: nothing was left out.
    std::string left_out() const;

protected:
    void leave_out(LeftOut what) { ++left_out_[static_cast<std::size_t>(what)]; }

private:
    std::array<std::uint64_t, left_out_kinds> left_out_{};
};

}  // namespace nopscope::host
