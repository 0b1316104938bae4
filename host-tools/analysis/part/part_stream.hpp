// SPDX-License-Identifier: Apache-2.0
// Passes a part of a recording on to another sink. It stands between a recording's reader and the
// sinks of a command, so every command knows parts in the same way.
//
// A part is made of records, not of calls. Records of other cores, tasks and callers are left out.
// Records before the time range are passed on, because they tell which calls are open when it
// begins: SessionSink::on_part() tells the sink where it begins and ends on each core.
//
// Times are those that reports and timelines show: since the recording's earliest record, and
// without the tracer's time where BalancedStream cuts it out. So a BalancedStream follows the
// records one by one, and also tells which context runs and which calls are open.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host-tools/analysis/events/balanced_stream.hpp"
#include "host-tools/analysis/part/part.hpp"
#include "host-tools/analysis/profile/tasks.hpp"

namespace nopscope::host {

// What a session reader or a recording tells of tasks, without the records.
class NamesOfTasks final : public SessionSink {
public:
    void on_session_end() override { ++session_; }
    bool on_tasks(const std::uint8_t* payload, std::size_t count) override {
        return tasks_.on_frame(session_, payload, count, budget_);
    }
    const Tasks& tasks() const { return tasks_; }

private:
    MemoryBudget budget_{0.05};
    Tasks tasks_;
    std::uint64_t session_ = 0;
};

// The ends of a range that TimeRange::needs_bounds(): first read the recording into this.
class RecordingBounds final : public EventSink {
public:
    // The range with both ends as times since the first record. Throws Error (Exit::usage) if a
    // marker is not in the recording; `option` is the text of the range.
    TimeRange resolved(const TimeRange& range) const;

    void on_origin(Nanoseconds origin) override { origin_ = end_ = origin; }
    void on_function(std::uint32_t, const FunctionPlace&) override {}
    void on_track(const Track&) override {}
    void entry(const Track&, std::uint32_t, Nanoseconds now) override { reach(now); }
    void leave(const Track&, std::uint32_t, Nanoseconds now, Left) override { reach(now); }
    void point(const Track&, std::uint32_t, Nanoseconds now) override { reach(now); }
    void whole(const Track&, std::uint32_t, Nanoseconds, Nanoseconds to, std::uint32_t) override {
        reach(to);
    }
    void mark(const Track&, std::uint32_t id, Nanoseconds now) override;
    void finish() override {}

private:
    struct Mark {
        std::uint32_t id;
        Nanoseconds at;  // since the first record
    };
    void reach(Nanoseconds now) {
        if (now > end_) end_ = now;
    }

    Nanoseconds origin_ = 0;
    Nanoseconds end_ = 0;
    std::vector<Mark> marks_;
    std::uint64_t left_out_ = 0;
};

class PartStream final : public SessionSink, private EventSink {
public:
    // `part.time` has both ends as times since the first record (RecordingBounds::resolved()).
    // `symbols` and `origin`: as BalancedStream's. `tasks`: what is known of them before the first
    // record of session `session`. A name that comes later holds for the records behind it.
    PartStream(SessionSink& inner, const Part& part, const std::function<const Symbols*()>& symbols,
               const std::string& origin, Tasks tasks = {}, std::uint64_t session = 0);

    // Call it after the last session. Throws Error (Exit::usage) if nothing of the recording can be
    // in the part: no function has the name, no task, no core has the number, or it ended before.
    void check() const;

    // The stream begins in the middle of a session: the core runs this context at `clock`.
    void begin_within(unsigned core, std::uint32_t context, std::uint64_t clock);

    // The session's origin, before its first record (OriginsAhead).
    void on_part(PartMark mark, unsigned core, std::uint64_t clock) override;
    void on_session(const HelloInfo& hello) override;
    void on_session_end() override;
    void on_trace(unsigned core, const TraceBatch& batch) override;
    void on_missing(unsigned core, const MissingPart& part) override;
    void on_stats(unsigned core, const protocol::Stats& stats) override;
    void on_clock_pair(const ClockPair& pair) override { inner_.on_clock_pair(pair); }
    bool on_profile(unsigned core, const std::uint8_t* payload, std::size_t count) override;
    bool on_profile_events(unsigned core, const std::uint8_t* payload, std::size_t count) override;
    bool on_moved(const std::uint8_t* payload, std::size_t count) override {
        return inner_.on_moved(payload, count);
    }
    bool on_tasks(const std::uint8_t* payload, std::size_t count) override;
    void on_reply(const protocol::Reply& reply) override { inner_.on_reply(reply); }
    void on_console(std::string_view text) override;
    void on_raw_text(std::string_view text) override { inner_.on_raw_text(text); }

private:
    enum class Phase : std::uint8_t { before, inside, after };
    struct Core {
        unsigned number = 0;
        Phase phase = Phase::before;
        bool is_wanted = true;
        std::optional<std::uint64_t> clock;  // of the session's last record
        std::uint64_t next_index = 0;        // of its next record
        bool passed = false;                 // the last record was passed on
        bool in_tracer = false;
        std::optional<std::uint64_t> unwound_at;   // the last record is a return by longjmp
        std::optional<std::uint32_t> context;      // the last one that was looked up
        bool is_task = true;                       // its name is wanted
        std::optional<std::uint32_t> told_switch;  // to this context: see tell_switch()
        std::vector<MissingPart> missing;          // wait for the core's next record
    };
    struct OnTrack {
        std::vector<bool> wanted;  // by open call
        std::size_t under = 0;     // how many of them are true
    };

    Core& core(unsigned number);
    bool wants(unsigned core) const { return !part_.core || *part_.core == core; }
    std::size_t under(unsigned core) const;
    void cross(Core& core, std::uint64_t clock);
    std::uint64_t clock_at(const Core& core, Nanoseconds time, std::uint64_t clock) const;
    bool passes(Core& core, const protocol::StampedRecord& record, std::size_t under_before);
    void tell_clock(const Core& core);
    bool is_task(Core& core);
    void forget_found_tasks();
    static std::optional<std::uint64_t> unwinding_until(Core& core,
                                                        const protocol::StampedRecord& record);
    void tell_tracer(const Core& core, std::uint64_t index, std::uint64_t from, std::uint64_t to);
    void tell_switch(Core& core, std::uint64_t index, std::uint64_t clock);
    void tell_missing(Core& core, std::optional<std::uint64_t> begin,
                      std::optional<std::uint64_t> end);

    // What `follower_` tells.
    void on_origin(Nanoseconds origin) override { origin_ = origin; }
    void on_function(std::uint32_t number, const FunctionPlace& place) override;
    void on_track(const Track& track) override { tracks_.resize(track.number + 1); }
    void entry(const Track& track, std::uint32_t function, Nanoseconds now) override;
    void leave(const Track& track, std::uint32_t function, Nanoseconds now, Left how) override;
    void point(const Track& track, std::uint32_t function, Nanoseconds now) override;
    void finish() override {}

    SessionSink& inner_;
    Part part_;
    BalancedStream follower_;
    bool has_origin_ = false;  // the session's first record has come
    Nanoseconds origin_ = 0;
    Nanoseconds reached_ = 0;  // the latest time of all cores, since the first record
    std::uint64_t clock_hz_ = 1;
    std::array<std::unique_ptr<Core>, 256> cores_;
    std::vector<OnTrack> tracks_;
    std::vector<bool> is_under_;      // by function number: `part_.under` names it
    bool is_point_ = false;           // the record is a call of such a function, without a time
    std::vector<std::string> names_;  // of all functions, for a sentence
    bool found_function_ = false;
    MemoryBudget budget_{0.05};  // of `tasks_`
    Tasks tasks_;
    std::uint64_t session_ = 0;
    bool found_task_ = false;
};

}  // namespace nopscope::host
