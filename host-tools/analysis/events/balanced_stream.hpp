// SPDX-License-Identifier: Apache-2.0
// Turns records into a balanced stream of entries and leaves on tracks, for formats that have every
// event. It is the innermost loop of those exports: one virtual call a record, no allocation in the
// steady state. These rules make the stream balanced, in the same way for all formats:
//
//   gap      Records are missing. Every open call of the core ends there (Left::gap): only later
//            records can say which calls went on, and no format can undo an end. Calls after the
//            gap have no callers, like those below "(callers lost in a gap)" in `graph`. A later
//            return of a call that ended so is ignored.
//   unwound  A return of a call that is not innermost ends the calls above it, too. If the target
//            says that longjmp left a call, the time until the next entry or return is the
//            tracer's, as in CallDecoder.
//   open     A call that is open when its session ends, ends with the core's last event.
//   tracer   Between tracer_begin and tracer_end the track shows `tracer_function`, so the time is
//            in no call's self time. On TimeAxis::without_tracer the clock stands still instead.
//   context  While another context runs, a track with open calls likewise shows `away_function`.
//   switch   How a core left a context is told by a record after the switch. So a switch, and the
//            end of `away_function` with it, are passed on at the next record that is none of
//            these.
//   move     A track belongs to a context and goes to the core that runs it, with its open calls.
//            Numbers other than 0 are unique in a session: a context that ran on another core
//            before has moved. MovesInOrder stands before this stream.
//   time     A core's time never goes back: if its clock does, the time stands still.
//   orphans  Returns of calls that are not open are left out.
//   part     Calls that are open when the shown part begins (SessionSink::on_part) enter there.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "host-tools/analysis/events/event_sink.hpp"
#include "host-tools/analysis/events/task_labels.hpp"
#include "host-tools/analysis/profile/captured.hpp"
#include "host-tools/analysis/profile/complete_calls.hpp"
#include "host-tools/analysis/profile/events.hpp"
#include "host-tools/analysis/profile/function_table.hpp"
#include "host-tools/analysis/profile/tick_time.hpp"
#include "host-tools/image/symbols.hpp"
#include "host-tools/line/stream/session.hpp"

namespace nopscope::host {

class BalancedStream : public SessionSink {
public:
    static constexpr std::size_t max_depth = std::size_t{1} << 16;  // deeper entries are points
    static constexpr std::size_t max_contexts = 65'536;  // more count as the core's last one

    // If `symbols` returns null, addresses name functions. Errors begin with `origin`. `axis`:
    // nothing chooses an axis for each session. That is without_tracer for one core in lossless
    // mode, where the program stands still while the core waits for the line; otherwise wall.
    BalancedStream(EventSink& sink, std::function<const Symbols*()> symbols, std::string origin,
                   std::optional<TimeAxis> axis = TimeAxis::wall)
        : sink_(sink), symbols_(std::move(symbols)), origin_(std::move(origin)), axis_(axis) {}

    // Tracks have these tasks. Call it first. Null: no task is known.
    void know_tasks(TaskLabels* tasks) {
        tasks_ = tasks != nullptr && tasks->any() ? tasks : nullptr;
        if (tasks_ != nullptr) sink_.on_named_tasks();
    }

    void on_part(PartMark mark, unsigned core, std::uint64_t clock) override;
    // Throws Error if the symbols are of another image. on_trace() and on_missing() throw it if
    // `axis` is without_tracer and a second core has records.
    void on_session(const HelloInfo& hello) override;
    void on_session_end() override;
    void on_trace(unsigned core, const TraceBatch& batch) override;
    void on_missing(unsigned core, const MissingPart& part) override;
    void on_console(std::string_view text) override;
    void on_clock_pair(const ClockPair& pair) override;

    std::uint64_t sessions() const { return sessions_; }
    // Where a core that has had a record is: its time on the axis, and the context that runs.
    Nanoseconds now(unsigned core) const { return cores_[core & 0xff]->now; }
    const Track& running(unsigned core) const { return cores_[core & 0xff]->current->track; }
    // Returns of calls that ended at a gap or whose entry is not known.
    std::uint64_t orphan_returns() const { return orphan_returns_; }
    // The count that unknown_sites() in report.hpp defines.
    std::uint64_t unknown_sites() const { return unknown_sites_; }

private:
    struct Open {
        static constexpr std::uint32_t no_call = 1u << 2;  // OpenCall::not_plain
        std::uint64_t index = 0;                           // record index of the entry
        std::uint32_t function = 0;
        std::uint32_t plain_end = no_call;  // plain_return()
    };
    struct Context {
        Track track;
        std::vector<Open> stack;  // stack[0] is no call
        DurationRecord duration;
        bool away = false;
        bool introduced = false;    // the sink knows the track
        bool has_moved = false;     // the entries of open calls may be in another core's ring
        Nanoseconds last = 0;       // of its events, while it does not run
        std::uint64_t session = 0;  // the last one that it ran in
    };
    // A switch that is not passed on yet.
    struct Waiting {
        const Context* from = nullptr;  // null: no switch
        const Context* to = nullptr;
        Nanoseconds at = 0;
        protocol::Left how = protocol::Left::unknown;
        bool ends_away = false;  // `to` leaves away_function
    };
    struct Core {
        unsigned number = 0;
        std::vector<std::unique_ptr<Context>> contexts;
        std::unordered_map<std::uint32_t, Context*> by_number;
        Context* current = nullptr;
        WithData with_data;
        Nanoseconds now = 0;
        Nanoseconds before = 0;                     // of the last record but one
        std::uint64_t clock = 0;                    // of the last record
        Ticks cut = 0;                              // the tracer's time that was cut out
        Stops stops;                                // `cut` at the last times
        std::uint32_t ended_function = 0;           // of the last call that a return ended
        std::optional<std::uint64_t> after_return;  // index of the record behind that return
        Nanoseconds masked_to = 0;                  // end of the last time with interrupts masked
        bool unwinding = false;
        bool is_running = false;  // the sink knows that `current` runs
        bool attends = true;      // attend() has something to do at the next record
        Waiting waiting;
        bool is_shown = true;               // false: it is before or after the part
        bool is_over = false;               // it is after the part
        Nanoseconds absent_to[2] = {0, 0};  // end of the last absence: lost; dropped

        bool is_ahead() const { return !is_shown && !is_over; }
    };

    struct Missing {
        Core* core;
        MissingPart part;
    };

    Core& core(unsigned number);
    // The session's first record has come.
    void begin_axis(std::uint64_t clock);
    void tell_clock_pair();
    // Passes on the missing parts that end by `reached` (session's clock), clipped to the session.
    void tell_absences(std::uint64_t reached);
    void tell(Core& core, const MissingPart& part);
    static void cut(Core& core, std::uint64_t clock);
    Nanoseconds time_at(const Core& core, std::uint64_t clock);
    // Charges a context to the budget. False: there is no room for it.
    bool has_room();
    // `is_certain`: the core has a record that it runs this context from now on.
    Context& context(Core& core, std::uint32_t number, bool is_certain = true);
    Context* moved_context(Core& core, std::uint32_t number, bool is_certain);
    void move(Core& from, Core& to, Context& moved);
    void introduce(Core& core, Context& context);
    // The sink gets the track.
    void announce(Context& context);
    // The track's open calls leave at its last time.
    void hide_open_calls(const Context& context);
    // The track's open calls enter now.
    void show_open_calls(Core& core, Context& context);
    // From now on the events are this core's.
    void turn_to(const Core& core) { to_ = core.is_shown ? &sink_ : &nobody_; }
    // The core left the running context at `left`.
    void enter(Core& core, Context& to, Nanoseconds left);
    std::uint32_t site(std::uint32_t offset);
    // Makes `to` the running context.
    void run(Core& core, Context& to);
    void attend(Core& core, const protocol::StampedRecord& next);
    // Passes on the switch that waits.
    void settle(Core& core);
    void tell_switch(const Core& core, const Context* from, const Context* to, Nanoseconds at,
                     protocol::Left how = protocol::Left::unknown);
    void begin_running(Core& core, Nanoseconds at);
    void end_running(Core& core);
    const TaskOfTrack* task_of(const Core& core, std::uint32_t context) const;
    void forget_other_tasks(Core& core);
    // Null: there is no room for it.
    Context* ready_context(Core& core, std::uint32_t number);
    void on_task(Core& core);
    void introduce_site(std::uint32_t number, std::uint32_t offset);
    void introduce_own(std::uint32_t function);
    void begin(Core& core, std::uint32_t function, std::uint64_t index, std::uint32_t plain_end);
    void end(Core& core, Context& of, Left how);
    void end_all(Core& core, Left how);
    void end_calls(Core& core, Context& of, Left how);
    void on_entry(Core& core, std::uint32_t offset, std::uint64_t index);
    void on_return(Core& core, const protocol::Event& event);
    void end_unwinding(Core& core, const protocol::StampedRecord& next);
    // Since its last record the core has worked for the tracer.
    void charge_to_tracer(Core& core, std::uint64_t clock);
    void on_extended(Core& core, const protocol::Event& event);
    void on_tracer_end(Core& core);
    void on_data(Core& core);
    void on_values(Core& core);
    void on_events(Core& core);
    void on_masked(Core& core);
    void on_sample(Core& core);
    // `data`: a sample's address.
    std::uint32_t sampled(std::uint64_t data, bool is_return);
    static std::size_t find(const Context& context, const protocol::Event& event);

    // Gets the events of cores before and after the part that is shown.
    struct Nobody final : EventSink {
        void on_function(std::uint32_t, const FunctionPlace&) override {}
        void on_track(const Track&) override {}
        void entry(const Track&, std::uint32_t, Nanoseconds) override {}
        void leave(const Track&, std::uint32_t, Nanoseconds, Left) override {}
        void finish() override {}
    };

    EventSink& sink_;
    Nobody nobody_;
    EventSink* to_ = &sink_;  // gets the events of the core that is read
    bool part_is_ahead_ = false;
    bool has_origin_ = false;  // the sink knows it
    std::function<const Symbols*()> symbols_;
    std::string origin_;
    std::optional<TimeAxis> axis_;
    TaskLabels* tasks_ = nullptr;
    bool cuts_ = false;  // in this session
    TickTime time_;
    MemoryBudget budget_{0.5};
    FunctionTable functions_;
    std::uint32_t introduced_ = 1;  // the sink knows the numbers below it
    bool introduced_none_ = false;
    std::unordered_map<std::uint64_t, std::uint32_t> sampled_;  // by address
    std::uint32_t own_introduced_ = 0;
    std::vector<std::uint32_t> path_;
    std::array<std::unique_ptr<Core>, 256> cores_;
    std::unordered_map<std::uint32_t, Core*> core_of_;  // that has the context of this number
    std::size_t context_count_ = 0;                     // of all cores
    unsigned core_count_ = 0;
    std::optional<ClockPair> clock_pair_;  // waits for the session's first record
    std::vector<Missing> absences_;        // wait for a record after their ends
    std::uint64_t first_clock_ = 0;        // of the session's records; 0: none yet
    std::uint64_t last_clock_ = 0;
    std::uint64_t base_ = 0;  // link-time address of text_base
    protocol::Architecture architecture_{};
    std::uint32_t tracks_ = 0;
    std::uint64_t sessions_ = 0;
    std::uint64_t orphan_returns_ = 0;
    std::uint64_t site_count_ = 0;  // of the image
    std::uint64_t functions_introduced_ = 0;
    std::uint64_t unknown_sites_ = 0;
};

}  // namespace nopscope::host
