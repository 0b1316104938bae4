// SPDX-License-Identifier: Apache-2.0
// Turns the records of one context of a core into calls with times. This is the innermost loop of
// every command: no lookup by name, no allocation in the steady state, no virtual call; the sink is
// a template parameter. Nearly all records are entries, and returns of the innermost call.
// take_plain() decodes those with all its state in registers. on_event() decodes any record.
//
// The stack holds the open calls, innermost last. A `ret` names its entry by record index, so it
// closes that call whatever else was lost. Six things make time less simple than subtraction:
//
//   tracer   Between tracer_begin and tracer_end the core worked for the tracer. Times come from a
//            clock that stands still meanwhile (`tracer_ticks_` is subtracted from all readings).
//            Calls inside the interval (an interrupt's) keep their own time.
//   gap      Records are missing. Only a later return shows that the call that it names, and all
//            calls below that, stayed open. So a gap puts a marker on the stack, and later calls
//            are children of the marker, not of a call that may be over. When a call below the
//            marker returns, the marker's calls and the gap itself count as its children (not as
//            its own time). The calls between it and the marker are `lost`: they ended unseen, and
//            their times end at the gap. If the session ends first, no call below the marker has
//            self time after the gap.
//   context  The core ran another context's calls (docs/trace-format.md). Each context has its own
//            decoder. That time is in the totals of the open calls, and not in their self times.
//   whole    One record and its data may describe a whole call at its end. It waits in Durations
//            for its caller's end, when its path is known.
//   interrupt  A reported interrupt is a call by the interrupted function. A `ret` ends it.
//   unwound  A call was left without returning (longjmp). The target says so, or the return of a
//            call below it shows it. In the tracer's time, the call ended when that time began.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "host-tools/analysis/profile/call.hpp"
#include "host-tools/analysis/profile/call_stack.hpp"
#include "host-tools/analysis/profile/complete_calls.hpp"
#include "host-tools/analysis/profile/durations.hpp"
#include "host-tools/analysis/profile/function_table.hpp"
#include "tracer/protocol/event.hpp"

namespace nopscope::host {

// Sink:
//   Begun on_entry(std::uint32_t parent_node, std::uint32_t site_offset)     every call; root is 0
//   Begun on_entry_by_jump(std::uint32_t parent_node, std::uint32_t site_offset, Ticks since)
//       the next entry after a jump. Recording took the ticks `since`, which are the caller's
//   std::uint32_t gap_node()
//   void on_call_only(std::uint32_t parent_node, std::uint32_t site_offset)  a `call` record
//   void on_tracer_time(std::uint32_t node, std::uint32_t instructions)      the path's self time
//   bool on_jump(std::uint32_t node)    the tracer begins behind a return: true if that was a jump
//   void on_exit(const OpenCall&, const ClosedCall&)                         a call with a time
//   MemoryBudget& budget()                                       for open and waiting calls
//   bool on_cpu                                    on_exit() gets the times away, else 0
// and for calls that one record describes whole:
//   void on_complete_call(std::uint32_t site_offset, Ticks, Durations::Inside)   a call with a time
//   std::uint32_t on_path(std::uint32_t parent_node, std::uint32_t site_offset,
//                         const Durations::Sum&)                                 its path's node
template <typename Sink>
class CallDecoder {
public:
    static constexpr std::size_t max_depth = std::size_t{1} << 16;

    // `root`: the node of the outermost calls' caller.
    explicit CallDecoder(Sink& sink, std::uint32_t root = 0) : sink_(&sink), root_(root) {
        stack_[0].path.node = root;
    }
    // A copy of the other decoder's state, for another sink.
    CallDecoder(const CallDecoder& other, Sink& sink) : CallDecoder(other) { sink_ = &sink; }

    // Decodes records up to the first that is not plain; returns how many. `index`: of the first.
    std::size_t take_plain(std::span<const protocol::StampedRecord> records, std::uint64_t index) {
        if (!started_ || after_gap_ || in_tracer_ || unwinding_ || closed_ == Closed::by_jump ||
            sink_->leaves_out_short)
            return 0;
        const Ticks not_ours = tracer_ticks_ + elsewhere_;
        const OpenCall* const room = stack_.room();
        OpenCall* top = &stack_.top();
        const protocol::StampedRecord* at = records.data();
        const protocol::StampedRecord* const end = at + records.size();
        for (; at != end; ++at, ++index) {
            const protocol::Record record = at->record;
            const Ticks now = at->clock - not_ours;
            if (record.high() == top->plain_end) {
                const Ticks ticks = not_negative(now - top->begin);
                sink_->on_exit(*top, {.outcome = Outcome::returned,
                                      .incomplete = top->gaps_before != gaps_,
                                      .ticks = ticks,
                                      .self_ticks = not_negative(ticks - top->child),
                                      .away_ticks = top->away});
                const Ticks away = top->away;
                (--top)->child += ticks;
                if (away != 0) [[unlikely]]
                    top->away += away;
            } else if (record.kind() == protocol::Kind::entry) {
                if (top == room) break;
                const Begun begun = sink_->on_entry(top->path.node, record.site_low());
                *++top = opened(index, now, begun);
            } else if (record.kind() == protocol::Kind::call) {
                sink_->on_call_only(top->path.node, record.site_low());
            } else {
                break;
            }
        }
        stack_.set_top(top);
        if (at != records.data()) {
            clock_ = at[-1].clock;
            closed_ =
                at[-1].record.kind() == protocol::Kind::ret ? Closed::by_return : Closed::none;
        }
        return static_cast<std::size_t>(at - records.data());
    }

    void on_event(const protocol::Event& event) {
        if (!started_) start(event.clock);
        if (unwinding_) pass_unwinding(event);
        clock_ = event.clock;
        if (after_gap_) end_gap();
        const Closed before = closed_;
        if (event.kind != protocol::Kind::extended) closed_ = Closed::none;
        switch (event.kind) {
        case protocol::Kind::entry: return on_begin(event, event.site_offset, before);
        case protocol::Kind::ret: return on_return(event);
        case protocol::Kind::call:
            return sink_->on_call_only(stack_.top().path.node, event.site_offset);
        case protocol::Kind::extended: return on_extended(event);
        }
    }

    // Records are missing between the last event and the next.
    void on_gap() {
        closed_ = Closed::none;
        unwinding_ = false;
        if (!started_) return;
        ++gaps_;
        duration_.wanted = 0;
        durations_.take_all(sink_->budget(),
                            [this](auto& sums) { place(sums, sink_->gap_node()); });
        // The tracer may have stopped in the gap. Only its time up to the gap is known.
        if (in_tracer_) stop_tracer();
        if (!after_gap_) last_before_gap_ = now();
        after_gap_ = true;
    }

    // The core is back in this context at `clock`. In the meantime the tracer took `tracer` ticks.
    void resume(std::uint64_t clock, Ticks tracer) {
        if (!started_) return;
        const Ticks away = not_negative(clock - clock_ - tracer);
        clock_ = clock;
        unwinding_ = false;
        elsewhere_ += tracer;
        stops_.remember(clock_, tracer_ticks_ + elsewhere_);
        if (in_tracer_) tracer_child_ += tracer;
        if (!after_gap_) leave_alone(away);  // end_gap() counts this time in the gap's length
    }
    // The core leaves this context; its last event was at `clock`.
    void suspend(std::uint64_t clock) {
        if (started_ && !after_gap_) clock_ = clock;
        // An interrupt's calls may be open on top of the tracer's work.
        if (in_tracer_ && stack_.depth() == tracer_depth_) tracer_part_ = tracer_part();
    }
    // The context has moved to this decoder's core from that of `from`, which must be suspended:
    // its open calls go on here. The next event is not before `clock`.
    // move(OpenCall&, Ticks self, Ticks so_far) gets each of them, the innermost first. `self`: the
    // call's own time up to now, which is not in its self time any more. `so_far`: its time. Both
    // are 0 if they are not known yet. `unseen`: the record of the move is missing, so other
    // records may be, too.
    template <typename Move>
    void take_over(CallDecoder& from, std::uint64_t clock, bool unseen, Move move) {
        if (!started_) start(clock);
        clock_ = clock;
        unwinding_ = false;
        if (after_gap_) end_gap();
        while (!stack_.empty()) pop(End::implied);
        carry_ = {};
        if (!from.started_) return;
        from.split_self_times(move);
        const Ticks stopped = tracer_ticks_ + elsewhere_;
        const Ticks shift = from.tracer_ticks_ + from.elsewhere_ - stopped;
        const Ticks part = from.in_tracer_ ? from.tracer_part_ : 0;
        stack_.take(from.stack_);
        stack_[0].path.node = root_;
        from.stack_[0].path.node = from.root_;
        for (std::size_t at = 1; at <= stack_.depth(); ++at) {
            const bool is_around = from.in_tracer_ && at <= from.tracer_depth_;
            stack_[at].begin += shift + (is_around ? part : 0);
        }
        durations_.take(from.durations_, shift + part);
        stops_ = std::exchange(from.stops_, {});
        stops_.shift(0 - shift - part);
        from.stops_.restart(from.tracer_ticks_ + from.elsewhere_ + part);
        away_ = std::exchange(from.away_, {});
        away_.shift(shift);
        gaps_ = from.gaps_ + (unseen ? 1 : 0);
        markers_ = std::exchange(from.markers_, 0);
        closed_ = from.closed_ = Closed::none;
        in_tracer_ = from.in_tracer_;
        tracer_depth_ = from.tracer_depth_;
        tracer_begin_ = from.tracer_begin_;
        tracer_child_ = from.tracer_child_ + part;
        tracer_part_ = 0;
        after_gap_ = std::exchange(from.after_gap_, false);
        last_before_gap_ = from.last_before_gap_ + shift;
        is_part_ = is_part_ || from.is_part_;
        // The rest of that work, and the tracer's next ticks, are this core's.
        from.in_tracer_ = false;
        from.tracer_ticks_ += part;
        if (after_gap_) return end_gap();
        leave_alone(not_negative(clock_ - from.clock_));
    }

    // The call that runs. Null: no call is open, or a gap came after its entry.
    const OpenCall* innermost() const {
        return stack_.empty() || stack_.top().is_gap() ? nullptr : &stack_.top();
    }
    // The call that the last return closed, until another call begins or ends; null: none. It is
    // still in its place above the stack's top: see Profile::Context::take_events().
    const OpenCall* just_closed() const {
        return closed_ != Closed::none ? &stack_[stack_.depth() + 1] : nullptr;
    }
    std::size_t depth() const { return stack_.depth(); }
    const OpenCall& top() const { return stack_.top(); }
    // True if a gap lies inside the call, or the call began before the part that is shown.
    bool has_gap(const OpenCall& call) const { return call.gaps_before != gaps_; }
    // The clock that calls begin and end on: the target's clock without the tracer's time.
    Ticks time() const { return now(); }
    std::uint64_t clock_at(Ticks time) const { return time + tracer_ticks_ + elsewhere_; }  // now's
    Ticks time_at(std::uint64_t clock) const { return clock - stops_.before(clock); }
    const CallStack& open_calls() const { return stack_; }
    // True if the return's entry is open in this context. `core`: where the return was recorded.
    bool has_entry_of(const protocol::Event& event, ReturnOn core = ReturnOn::same_core) const {
        return stack_.find(event, core) != 0;
    }
    // The open calls go on elsewhere: they count for nothing here.
    void forget_calls() {
        while (!stack_.empty()) stack_.pop();
        durations_.forget();
        markers_ = 0;
        in_tracer_ = after_gap_ = unwinding_ = false;
        closed_ = Closed::none;
    }

    // A part of the recording begins at `clock`, which is after the last event and not after the
    // next: forgets all times before it, and the open calls begin there. place(parent_node, path)
    // returns the path of an open call in this decoder's sink.
    template <typename Place>
    void begin_part(std::uint64_t clock, std::uint32_t root, Place place) {
        stack_[0].path.node = root_ = root;
        clock_ = first_clock_ = tracer_begin_ = last_before_gap_ = part_begin_ = clock;
        tracer_ticks_ = elsewhere_ = tracer_child_ = 0;
        is_part_ = true;
        counters_ = {};
        durations_.forget();
        stops_.restart(0);
        away_.forget();
        carry_ = {};
        duration_ = {};
        closed_ = Closed::none;
        stack_[0].child = stack_[0].away = 0;
        place_again(place);
        for (std::size_t at = 1; at <= stack_.depth(); ++at) {
            OpenCall& call = stack_[at];
            call.begin = clock;
            call.child = call.away = call.total_before = call.taken_before = 0;
            call.gaps_before = OpenCall::before_part;
        }
    }
    // The paths of the open calls are other ones now.
    template <typename Place>
    void place_again(Place place) {
        for (std::size_t at = 1; at <= stack_.depth(); ++at) {
            OpenCall& call = stack_[at];
            call.path = call.is_gap() ? Path{0, sink_->gap_node()}
                                      : place(stack_[at - 1].path.node, call.path);
        }
    }
    // The part ends at `clock`: finish() ends the open calls there.
    void end_part(std::uint64_t clock) {
        if (!started_) return;
        if (std::exchange(unwinding_, false)) tracer_ticks_ += not_negative(clock - clock_);
        clock_ = clock;
        if (!in_tracer_) return;
        while (stack_.depth() > tracer_depth_) pop(End::session);  // an interrupt's calls
        stop_tracer();
    }

    // The session is over: the times of open calls end at the last event.
    void finish() {
        if (after_gap_) end_gap();
        if (in_tracer_) stop_tracer();
        while (!stack_.empty()) pop(End::session);
        durations_.take_all(sink_->budget(),
                            [this](auto& sums) { place(sums, stack_.top().path.node); });
        stops_.restart(tracer_ticks_ + elsewhere_);
        away_.forget();
        duration_ = {};
        carry_ = {};
        markers_ = 0;
        started_ = after_gap_ = unwinding_ = false;
        closed_ = Closed::none;
    }

    const DecoderCounters& counters() const { return counters_; }
    Ticks tracer_ticks() const { return tracer_ticks_; }
    // The same, with the tracer's work that has begun and not ended. Call it behind suspend().
    Ticks tracer_ticks_so_far() const { return tracer_ticks_ + (in_tracer_ ? tracer_part_ : 0); }
    Ticks first_clock() const { return first_clock_; }
    Ticks last_clock() const { return clock_; }
    bool started() const { return started_; }

private:
    CallDecoder(const CallDecoder&) = default;
    // How the last call ended, until another begins or ends: see just_closed(). By a jump: its
    // function was reached by one and jumped on (tracer/recorders/tail_calls.hpp).
    enum class Closed : std::uint8_t { none, by_return, by_jump };
    // Why a call leaves the stack: its own return, that of a call below it, or the session's end.
    enum class End : std::uint8_t { returned, unwound, implied, session };

    Ticks now() const { return clock_ - tracer_ticks_ - elsewhere_; }

    void start(std::uint64_t clock) {
        started_ = true;
        first_clock_ = clock_ = clock;
    }

    // Up to now the context has not run, for so long.
    void leave_alone(Ticks away) {
        const bool works = in_tracer_ && stack_.depth() == tracer_depth_;
        if (works) tracer_child_ += away;
        away_.add(away, now() - (works ? tracer_part() : 0));
        stack_.top().child += away;
        if (sink_->on_cpu) stack_.top().away += away;
    }
    // Tells each open call's self time so far, and takes it off the rest: see take_over().
    template <typename Move>
    void split_self_times(Move move) {
        const bool is_known = durations_.empty() && !in_tracer_ && !sink_->leaves_out_short;
        const Ticks moves = after_gap_ ? last_before_gap_ : now();
        Ticks end = moves;
        for (std::size_t at = stack_.depth(); at > 0; --at) {
            OpenCall& call = stack_[at];
            if (!call.is_gap()) {
                const Ticks so_far = is_known ? not_negative(moves - call.begin) : 0;
                const Ticks self = is_known ? not_negative(end - call.begin - call.child) : 0;
                call.child += self;
                move(call, self, so_far);
            }
            end = call.begin;
        }
    }

    // `before`: how the last call ended, if nothing else came since.
    void on_begin(const protocol::Event& event, std::uint32_t offset, Closed before) {
        if (in_tracer_ && stack_.depth() == tracer_depth_) [[unlikely]]
            tracer_part_ = tracer_part();
        const std::uint32_t caller = stack_.top().path.node;
        const Begun begun =
            before == Closed::by_jump
                ? sink_->on_entry_by_jump(caller, offset, not_negative(now() - jumped_at_))
                : sink_->on_entry(caller, offset);
        if (!has_room()) return void(++counters_.too_deep);
        stack_.push(opened(event.index, now(), begun));
    }
    // True if the stack can take one more call; grows it if needed.
    bool has_room() {
        if (stack_.has_room()) [[likely]]
            return stack_.depth() < max_depth;
        if (stack_.depth() >= max_depth || !sink_->budget().take(stack_.growth_bytes()))
            return false;
        stack_.grow();
        return true;
    }
    OpenCall opened(std::uint64_t index, Ticks begin, const Begun& begun) const {
        return {.index = index,
                .begin = begin,
                .child = 0,
                .away = 0,
                .total_before = begun.total_before,
                .taken_before = begun.taken_before,
                .path = begun.path,
                .gaps_before = gaps_,
                .plain_end = plain_return(index)};
    }

    void on_return(const protocol::Event& event) {
        const std::size_t at = stack_.find(event);
        if (at == 0) return void(++counters_.orphan_returns);
        if (event.unwound && in_tracer_ && at <= tracer_depth_) return leave_in_tracer(at);
        while (stack_.depth() > at) pop(End::implied);
        pop(event.unwound ? End::unwound : End::returned);
        closed_ = Closed::by_return;
        unwinding_ = event.unwound && !in_tracer_;
    }
    // longjmp left a call that was open before the tracer's time: it ended when that time began.
    void leave_in_tracer(std::size_t at) {
        const Ticks clock = std::exchange(clock_, tracer_begin_ + tracer_child_);
        while (stack_.depth() > at) pop(End::implied);
        pop(End::unwound);
        clock_ = clock;
        in_tracer_ = true;
        closed_ = Closed::by_return;
        tracer_depth_ = stack_.depth();
    }
    // The target unwinds in the entry or hook whose record comes next: the clock stands still.
    void pass_unwinding(const protocol::Event& event) {
        unwinding_ = event.kind == protocol::Kind::extended && event.clock == clock_;  // its data
        if (event.kind == protocol::Kind::extended) return;
        tracer_ticks_ += not_negative(event.clock - clock_);
        stops_.remember(event.clock, tracer_ticks_ + elsewhere_);
    }

    void on_extended(const protocol::Event& event) {
        if (event.extended != protocol::Extended::data) duration_.wanted = 0;
        switch (event.extended) {
        case protocol::Extended::interrupt:
            closed_ = Closed::none;
            on_begin(event, interrupt_offset(event.argument), Closed::none);
            stack_.top().plain_end = OpenCall::not_plain;  // so that Profile::Core sees its end
            return;
        case protocol::Extended::duration:
            closed_ = Closed::none;
            duration_ = {.wanted = 2, .depth = event.argument};
            return;
        case protocol::Extended::data:
            if (duration_.data(event.data)) on_duration();
            return;
        case protocol::Extended::tracer_begin:
            // If the last tracer_begin has no end, the ring was full: its length is unknown.
            in_tracer_ = true;
            tracer_depth_ = stack_.depth();
            tracer_begin_ = clock_;
            tracer_child_ = tracer_part_ = 0;
            on_tracer_time(event.argument);
            if (closed_ == Closed::by_return && event.argument == 0 &&
                sink_->on_jump(stack_.top().path.node)) {
                closed_ = Closed::by_jump;
                jumped_at_ = now();
            }
            return;
        case protocol::Extended::tracer_end:
            if (!in_tracer_) return;
            stop_tracer();
            on_tracer_time(event.argument);
            return;
        default:
            if (!protocol::is_known(event.extended)) ++counters_.unknown_records;
        }
    }

    // After a jump it is in the time up to the next entry already.
    void on_tracer_time(std::uint32_t instructions) {
        if (closed_ != Closed::by_jump) sink_->on_tracer_time(stack_.top().path.node, instructions);
    }
    Ticks tracer_part() const { return not_negative(clock_ - tracer_begin_ - tracer_child_); }
    void stop_tracer() {
        in_tracer_ = false;
        tracer_ticks_ += tracer_part();
        stops_.remember(clock_, tracer_ticks_ + elsewhere_);
    }

    // A duration record is complete: its call ends now. Its ticks include the tracer's time.
    void on_duration() {
        if (is_part_)
            duration_.ticks = std::min(duration_.ticks, not_negative(clock_ - part_begin_));
        const Ticks before = stops_.before(clock_ - duration_.ticks);
        const Ticks ticks = not_negative(duration_.ticks - (tracer_ticks_ + elsewhere_ - before));
        const Ticks begin = now() - ticks;
        const Ticks elsewhere =
            sink_->on_cpu ? away_.since(begin) + durations_.away_inside(duration_.depth, begin) : 0;
        if (sink_->leaves_out_complete(ticks - elsewhere)) return;
        // The call around this one has counted this time as its children's already.
        const Ticks away = away_.take(begin);
        stack_.top().child -= away;
        const Durations::Inside inside =
            durations_.add(duration_.depth, duration_.site, begin, ticks, away, elsewhere,
                           sink_->budget(), [this](auto& sums) { place(sums, sink_->gap_node()); });
        sink_->on_complete_call(duration_.site, ticks, inside);
        if (in_tracer_ && clock_ - duration_.ticks >= tracer_begin_)
            tracer_child_ += not_negative(ticks - inside.ticks);
        if (!stack_.top().is_gap()) stack_.top().plain_end = OpenCall::not_plain;
    }
    // The caller's node is known, so the waiting calls get their paths.
    void place(const Durations::Sums& sums, std::uint32_t node) {
        for (const auto& [site, sum] : sums) place(sum->children, sink_->on_path(node, site, *sum));
    }

    // At the first event after a gap, or at the session's end. Puts a marker on the stack for the
    // calls that follow. Its `child` begins as the gap's length, which is in no call's self time.
    void end_gap() {
        after_gap_ = false;
        const Ticks length = not_negative(now() - last_before_gap_);
        away_.add(length, now());
        if (stack_.empty()) return;
        if (!stack_.top().is_gap() && markers_ == max_markers) collapse_oldest();
        if (stack_.top().is_gap() || !has_room()) {
            stack_.top().child += length;
            return;
        }
        ++markers_;
        stack_.push({.index = stack_.top().index,
                     .begin = last_before_gap_,
                     .child = length,
                     .away = 0,
                     .total_before = 0,
                     .taken_before = 0,
                     .path = {0, sink_->gap_node()},
                     .gaps_before = gaps_,
                     .plain_end = OpenCall::gap_marker});
    }

    // Counts the calls between the two oldest markers as lost. Otherwise a target that never
    // returns to a call below the first marker would grow the stack for ever.
    void collapse_oldest() {
        const auto marker_from = [this](std::size_t at) {
            while (!stack_[at].is_gap()) ++at;
            return at;
        };
        const std::size_t first = marker_from(1), second = marker_from(first + 1);
        for (std::size_t at = second - 1; at != first; --at) {
            close(stack_[at], stack_[at - 1], stack_[second].begin, Outcome::lost);
        }
        stack_[first].child += stack_[second].child;
        stack_[first].away += stack_[second].away;
        stack_.erase(first + 1, second + 1);
        --markers_;
    }

    // The innermost call or marker leaves the stack.
    void pop(End end) {
        OpenCall call = stack_.top();
        stack_.pop();
        if (!call.is_gap() && !durations_.empty()) settle(call);
        away_.forget();
        if (in_tracer_ && stack_.depth() < tracer_depth_) in_tracer_ = false;
        OpenCall& below = stack_.top();
        if (call.is_gap()) {
            --markers_;
            carry_ = {
                true, call.begin,
                end == End::session ? not_negative(now() - call.begin) : call.child + carry_.after,
                call.away + carry_.away};
            return;
        }
        if (end == End::implied && carry_.active)
            return void(close(call, below, carry_.cut, Outcome::lost));
        OpenCall whole = call;
        whole.child += carry_.after;
        whole.away += carry_.away;
        carry_ = {};
        const Ticks ticks = close(whole, below, now(),
                                  end == End::session    ? Outcome::open
                                  : end == End::returned ? Outcome::returned
                                                         : Outcome::unwound);
        if (in_tracer_ && stack_.depth() == tracer_depth_) tracer_child_ += ticks;
    }

    void settle(OpenCall& call) {
        call.child += durations_.settle(call.begin, sink_->budget(),
                                        [&](auto& sums) { place(sums, call.path.node); });
        if (!durations_.empty() && !stack_.top().is_gap())
            stack_.top().plain_end = OpenCall::not_plain;
    }

    Ticks close(const OpenCall& call, OpenCall& below, Ticks end, Outcome outcome) {
        const Ticks ticks = not_negative(end - call.begin);
        if (sink_->leaves_out(call, ticks, outcome)) [[unlikely]] {
            below.child += call.child;
            below.away += call.away;
            return ticks;
        }
        const Ticks self = not_negative(ticks - call.child);
        below.child += ticks;
        below.away += call.away;
        sink_->on_exit(call, {.outcome = outcome,
                              .incomplete = call.gaps_before != gaps_,
                              .ticks = ticks,
                              .self_ticks = self,
                              .away_ticks = call.away});
        return ticks;
    }

    static constexpr std::size_t max_markers = 64;

    Sink* sink_;
    std::uint32_t root_ = 0;
    CallStack stack_;
    Carry carry_;
    DurationRecord duration_;
    Durations durations_;
    Stops stops_;
    Away away_;
    DecoderCounters counters_;
    Ticks clock_ = 0;  // of the last event, ticks
    Ticks first_clock_ = 0;
    Ticks tracer_ticks_ = 0;
    Ticks elsewhere_ = 0;  // the tracer's time while the core ran another context
    Ticks tracer_begin_ = 0;
    Ticks jumped_at_ = 0;  // on the clock without the tracer's time
    Ticks tracer_child_ = 0;
    Ticks tracer_part_ = 0;  // of the current work, up to the last call on top of it, or suspend()
    Ticks last_before_gap_ = 0;  // without the tracer's time
    std::uint64_t part_begin_ = 0;
    std::size_t tracer_depth_ = 0;
    std::size_t markers_ = 0;
    std::uint32_t gaps_ = 0;
    bool started_ = false;
    bool is_part_ = false;
    bool after_gap_ = false;
    bool in_tracer_ = false;
    bool unwinding_ = false;  // the target said that longjmp ended the last call
    Closed closed_ = Closed::none;
};

}  // namespace nopscope::host
