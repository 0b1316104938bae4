// SPDX-License-Identifier: Apache-2.0
// Tells an EventSink the calls that a CallStream decodes, one by one, on tracks. One virtual call a
// record, no allocation in the steady state. These rules make the stream balanced:
//
//   gap      Records are missing. Every open call of the core ends there (Left::gap): no format can
//            undo an end. Calls after the gap have no callers, like those below "(callers lost in a
//            gap)" in `graph`. The decoder keeps the calls of before; their returns are ignored.
//   open     A call that is open when its session ends, ends with the core's last record.
//   tracer   Between tracer_begin and tracer_end the track shows `tracer_function`, so the time is
//            in no call's self time. On TimeAxis::without_tracer the clock stands still instead.
//   context  While another context runs, a track with open calls likewise shows `away_function`.
//   switch   How a core left a context is told by a record after the switch. So a switch, and the
//            end of `away_function` with it, are passed on at the next record that is none of
//            these.
//   move     A track belongs to a context and goes to the core that runs it, with its open calls.
//            Numbers other than 0 are unique in a session: a context that ran on another core
//            before has moved.
//   time     A core's time never goes back: if its clock does, the time stands still.
//   part     Calls that are open when the shown part begins, enter there.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "host-tools/calls/call_stack.hpp"
#include "host-tools/calls/complete_calls.hpp"
#include "host-tools/calls/event_sink.hpp"
#include "host-tools/calls/function_table.hpp"
#include "host-tools/calls/task_labels.hpp"
#include "host-tools/calls/tick_time.hpp"
#include "host-tools/calls/with_data.hpp"
#include "host-tools/image/symbols.hpp"
#include "host-tools/line/stream/session.hpp"

namespace nopscope::host {

class CallFeed {
public:
    static constexpr std::size_t max_tracks = 65'536;  // more contexts share their core's last one

    // If `symbols` returns null, addresses name functions. Errors begin with `origin`. `axis`:
    // nothing chooses an axis for each session. That is without_tracer for one core in lossless
    // mode, where the program stands still while the core waits for the line; otherwise wall.
    CallFeed(EventSink& sink, std::function<const Symbols*()> symbols, std::string origin,
             std::optional<TimeAxis> axis = TimeAxis::wall);

    // Tracks have these tasks. Call it first. Null: no task is known.
    void know_tasks(TaskLabels* tasks) {
        tasks_ = tasks != nullptr && tasks->any() ? tasks : nullptr;
        if (tasks_ != nullptr) sink_.on_named_tasks();
    }

    // The count that unknown_sites() in integrity.hpp defines.
    std::uint64_t unknown_sites() const { return unknown_sites_; }

    // The rest is for CallStream and CallDecoder.

    // Fails if the symbols are of another image.
    Result<> on_session(const HelloInfo& hello);
    void on_session_end();
    // The session's first record has come, or is known before it comes.
    void begin_axis(std::uint64_t clock);
    // Records up to this clock come.
    void on_records(std::uint64_t first, std::uint64_t last);
    void on_console(std::string_view text);
    void on_clock_pair(const ClockPair& pair);
    void tell_clock_pair();

    // A track's open call, or a stretch of the tracer's time or another context's.
    struct Open {
        std::uint64_t index = 0;  // record index of the entry
        std::uint64_t number = 0;
        Nanoseconds from = 0;
        Nanoseconds inside = 0;
        Nanoseconds away = 0;
        Nanoseconds tracer = 0;  // the core's tracer time when it began
        std::uint32_t function = 0;
        std::uint32_t depth = 0;
    };
    // Those of a track, the innermost last. It never shrinks, so push() stays short.
    class OpenCalls {
    public:
        bool empty() const { return end_ == calls_.data(); }
        Open& back() { return end_[-1]; }
        Open* begin() { return calls_.data(); }
        Open* end() { return end_; }
        [[gnu::always_inline]] Open& push() {
            if (end_ == room_) [[unlikely]]
                grow();
            return *end_++;
        }
        void pop() { --end_; }

    private:
        [[gnu::noinline, gnu::cold]] void grow() {
            const std::size_t count = calls_.size();
            calls_.resize(2 * count + 16);
            end_ = calls_.data() + count;
            room_ = calls_.data() + calls_.size();
        }

        std::vector<Open> calls_;
        Open* end_ = nullptr;
        Open* room_ = nullptr;
    };
    struct OneTrack {
        Track track;
        OpenCalls open;
        bool away = false;
        bool introduced = false;    // the sink knows the track
        Nanoseconds last = 0;       // of its events, while it does not run
        std::uint64_t session = 0;  // the last one that it ran in
        Nanoseconds tracer = 0;     // its core's tracer time, while it does not run
    };
    class Core;
    // Fails if `axis` is without_tracer and this is a second core. `announces`: the sink gets the
    // core's own track at once.
    Result<Core*> core(unsigned number, bool announces = true);

private:
    friend class Core;
    // A switch that is not passed on yet.
    struct Waiting {
        const OneTrack* from = nullptr;  // null: no switch
        OneTrack* to = nullptr;
        Nanoseconds at = 0;
        protocol::Left how = protocol::Left::unknown;
        bool ends_away = false;  // `to` leaves away_function
    };
    struct Missing {
        Core* core;
        MissingPart part;
    };

    // Passes on the missing parts that end by `reached` (session's clock), clipped to the session.
    void tell_absences(std::uint64_t reached);
    [[gnu::always_inline]] std::uint32_t site(std::uint32_t offset) {
        const std::uint32_t number = is_interrupt(offset)
                                         ? functions_.number_of_any(offset, budget_)
                                         : functions_.number(offset, budget_);
        // Also true for FunctionTable::none, which is 0.
        if (number - 1 >= introduced_ - 1) [[unlikely]]
            introduce_site(number, offset);
        return number;
    }
    [[gnu::noinline, gnu::cold]] void introduce_site(std::uint32_t number, std::uint32_t offset);
    void introduce_own(std::uint32_t function);
    void introduce(OneTrack& track);
    // `data`: a sample's address.
    std::uint32_t sampled(std::uint64_t data, bool is_return);

    EventSink& sink_;
    std::function<const Symbols*()> symbols_;
    std::string origin_;
    std::optional<TimeAxis> axis_;
    TaskLabels* tasks_ = nullptr;
    bool has_origin_ = false;  // the sink knows it
    bool cuts_ = false;        // in this session
    TickTime time_;
    MemoryBudget budget_{0.5};
    FunctionTable functions_;
    std::uint32_t introduced_ = 1;  // the sink knows the numbers below it
    bool introduced_none_ = false;
    std::unordered_map<std::uint64_t, std::uint32_t> sampled_;  // by address
    std::uint32_t own_introduced_ = 0;
    std::vector<std::uint32_t> path_;
    std::array<std::unique_ptr<Core>, 256> cores_;
    std::unordered_map<std::uint32_t, Core*> core_of_;  // that has the track of this context
    std::size_t track_count_ = 0;                       // of all cores
    unsigned core_count_ = 0;
    std::optional<ClockPair> clock_pair_;  // waits for the session's first record
    std::vector<Missing> absences_;        // wait for a record after their ends
    std::uint64_t first_clock_ = 0;        // of the session's records; 0: none yet
    std::uint64_t last_clock_ = 0;
    std::uint64_t base_ = 0;  // link-time address of text_base
    protocol::Architecture architecture_{};
    std::uint32_t tracks_ = 0;
    std::uint64_t sessions_ = 0;
    std::uint64_t entries_ = 0;
    std::uint64_t site_count_ = 0;  // of the image
    std::uint64_t functions_introduced_ = 0;
    std::uint64_t unknown_sites_ = 0;
};

// One core: its tracks, of which one runs.
class CallFeed::Core {
public:
    Core(CallFeed& feed, unsigned number) : feed_(feed), number_(number) {}

    // True: attend() must get the next record first, as after a switch.
    bool attends() const { return attends_; }
    void attend(const protocol::StampedRecord& next);
    // The next record's time. `tracer`: the tracer's ticks of the context that runs, up to then.
    void reach(std::uint64_t clock, Ticks tracer) {
        if (feed_.cuts_) [[unlikely]]
            cut_to(clock, cut_base_ + tracer);
        if (tracer_waits_ && feed_.time_(clock - cut_) > now_) {
            tracer_waits_ = false;
            open_own(*current_, tracer_function, 0);
        }
        clock_ = clock;
        reach(clock);
    }
    // The tracer's ticks of the core so far that are not those of the context that runs.
    void set_cut_base(Ticks ticks) { cut_base_ = ticks; }

    // An entry of the record `index`. The first three are of plain records: they reach `clock`.
    [[gnu::always_inline]] void begin_plain(std::uint32_t offset, std::uint64_t index,
                                            std::uint64_t clock) {
        reach(clock);
        open(*current_, feed_.site(offset), index);
    }
    [[gnu::always_inline]] void end_plain(std::uint64_t entry, std::uint64_t index,
                                          std::uint64_t clock) {
        reach(clock);
        if (current_->open.empty()) return end_return(index);
        const Open& top = current_->open.back();
        if (((top.index ^ entry) & index_mask) != 0 || top.function >= first_own_function)
            [[unlikely]] {
            end(entry, true);
            return end_return(index);
        }
        after_return_ = index + 1;
        ended_function_ = top.function;
        close(*current_, Left::returned);
    }
    void point_plain(std::uint32_t offset, std::uint64_t clock) {
        reach(clock);
        point(offset);
    }
    void begin(std::uint32_t offset, std::uint64_t index) {
        open(*current_, feed_.site(offset), index);
        set_in_tracer(false);
    }
    // The call of this entry ended. One that a gap ended before is ignored.
    void end(std::uint64_t entry, bool returned);
    // The calls that the return of record `index` ended have got end(), its own call last.
    void end_return(std::uint64_t index) {
        after_return_ = ended_function_ != FunctionTable::none ? index + 1 : no_record;
    }
    void point(std::uint32_t offset) {
        feed_.sink_.point(current_->track, feed_.site(offset), now_);
    }
    void whole(std::uint32_t offset, Ticks ticks, std::uint32_t depth);
    void begin_tracer(std::uint64_t index);
    // longjmp has left calls around the tracer's work, which goes on.
    void continue_tracer() { tracer_waits_ = !feed_.cuts_; }
    void end_tracer();
    // Since its last record the core has worked for the tracer, up to the next at `clock`.
    void pass_unwinding(std::uint64_t clock, Ticks tracer);

    // The core runs this context since the record that came last.
    void enter(std::uint32_t context) { enter(track(context), now_); }
    // The same, but the record of the switch is missing: the core left the other one at the time of
    // the last record. The next one comes at `clock`.
    void enter_unseen(std::uint32_t context, std::uint64_t clock, Ticks tracer);
    void gap(std::uint32_t context);
    void missing(const MissingPart& part) { feed_.absences_.push_back({this, part}); }
    void mark(std::uint32_t id) { feed_.sink_.mark(current_->track, id, now_); }
    void data(const WithData& record);
    void ready(std::uint64_t context);

    // The part begins here at `clock`, in this context. Then show() tells each context's open
    // calls, which have their sites' offsets instead of functions. A gap has ended those that began
    // before it: `gaps` came so far. tracer_depth: the tracer works on top of so many calls.
    void begin_part(std::uint32_t context, std::uint64_t clock, Ticks cut);
    void show(std::uint32_t context, const CallStack& calls, std::uint32_t gaps,
              std::optional<std::size_t> tracer_depth);
    // The context moved here before the part begins here. Another core has shown its open calls.
    void hide(std::uint32_t context);
    void end_part(std::uint64_t clock, Ticks tracer);

private:
    friend class CallFeed;
    static constexpr std::uint64_t no_record = ~std::uint64_t{0};
    static constexpr std::uint64_t index_mask = OpenCall::first_core_tag - 1;

    [[gnu::always_inline]] void reach(std::uint64_t clock) {
        const Nanoseconds now = feed_.time_(clock - cut_);
        if (now > now_) now_ = now;
    }
    void cut_to(std::uint64_t clock, Ticks cut);
    Nanoseconds time_at(std::uint64_t clock) {
        return feed_.time_(feed_.cuts_ ? clock - stops_.before(clock) : clock);
    }
    // Plain records never come in the tracer's time.
    void run_to_now() {
        tracer_ += now_ - tracer_at_;
        tracer_at_ = now_;
    }
    void set_in_tracer(bool is_in) {
        in_tracer_ = is_in;
        tracer_at_ = now_;
    }
    [[gnu::always_inline]] void open(OneTrack& on, std::uint32_t function, std::uint64_t index) {
        if (in_tracer_) [[unlikely]]
            run_to_now();
        Open& call = on.open.push();
        call.index = index;
        call.number = ++feed_.entries_;
        call.from = now_;
        call.inside = call.away = 0;
        call.tracer = tracer_;
        call.function = function;
        call.depth = &call == on.open.begin() ? 0 : (&call)[-1].depth + 1;
        feed_.sink_.entry(on.track, function, now_);
    }
    // The tracer's time, or another context's.
    void open_own(OneTrack& on, std::uint32_t function, std::uint64_t index) {
        feed_.introduce_own(function);
        open(on, function, index);
        set_in_tracer(function == tracer_function);
    }
    // The innermost call of the track ends.
    [[gnu::always_inline]] void close(OneTrack& of, Left how) {
        if (in_tracer_) [[unlikely]]
            run_to_now();
        const Open& call = of.open.back();
        Open* const caller = call.depth != 0 ? of.open.end() - 2 : nullptr;
        const Nanoseconds total = now_ - call.from;
        const Nanoseconds duration = total - (tracer_ - call.tracer);
        const Nanoseconds away = call.function == away_function ? duration : call.away;
        if (caller != nullptr) {
            caller->inside += total;
            caller->away += away;
        }
        const EndedCall ended{.number = call.number,
                              .parent = caller != nullptr ? caller->number : 0,
                              .function = call.function,
                              .depth = call.depth,
                              .from = call.from,
                              .to = now_,
                              .duration = duration,
                              .self = total - call.inside,
                              .cpu = duration - away,
                              .how = how};
        of.open.pop();
        feed_.sink_.leave(of.track, ended);
    }
    // The same of any call.
    void close_any(OneTrack& of, Left how) {
        close(of, how);
        set_in_tracer(!of.open.empty() && of.open.back().function == tracer_function);
    }
    void close_all(OneTrack& of, Left how);
    void end_tracks(Left how);
    // `is_certain`: the core has a record that it runs this context from now on.
    OneTrack& track(std::uint32_t context, bool is_certain = true, bool announces = true);
    OneTrack* moved_track(std::uint32_t context, bool is_certain);
    void take(Core& from, OneTrack& moved);
    void enter(OneTrack& to, Nanoseconds left);
    void run(OneTrack& to);
    void settle();
    void tell_switch(const OneTrack* from, const OneTrack* to, Nanoseconds at,
                     protocol::Left how = protocol::Left::unknown);
    void begin_running(Nanoseconds at);
    void end_running();
    const TaskOfTrack* task_of(std::uint32_t context) const;
    void forget_other_tasks();
    OneTrack* ready_track(std::uint32_t context);
    void tell(const MissingPart& part);
    void tell_values(const WithData& record);
    void tell_events(const WithData& record);
    void tell_masked(const WithData& record);
    void tell_sample(const WithData& record);

    CallFeed& feed_;
    unsigned number_;
    std::vector<std::unique_ptr<OneTrack>> tracks_;
    std::unordered_map<std::uint32_t, OneTrack*> by_context_;
    OneTrack* current_ = nullptr;
    std::uint64_t clock_ = 0;  // of the last record that is not plain
    Nanoseconds now_ = 0;
    Ticks cut_ = 0;  // the tracer's time that was cut out
    Ticks cut_base_ = 0;
    Stops stops_;                // `cut_` at the last times
    Nanoseconds tracer_ = 0;     // sum of the tracer's time that is shown
    Nanoseconds tracer_at_ = 0;  // up to then, if `in_tracer_`
    bool in_tracer_ = false;
    bool tracer_waits_ = false;  // it works, and the track shows it from the next later time on
    std::uint32_t ended_function_ = FunctionTable::none;  // of the last call that a return ended
    std::uint64_t after_return_ = no_record;              // index of the record behind that return
    Nanoseconds masked_to_ = 0;  // end of the last time with interrupts masked
    bool is_running_ = false;    // the sink knows that `current_` runs
    bool attends_ = true;        // attend() has something to do at the next record
    bool is_over_ = false;       // the part is
    Waiting waiting_;
    Nanoseconds absent_to_[2] = {0, 0};  // end of the last absence: lost; dropped
};

}  // namespace nopscope::host
