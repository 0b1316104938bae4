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
#include <optional>
#include <span>
#include <utility>

#include "host-tools/calls/call.hpp"
#include "host-tools/calls/call_feed.hpp"
#include "host-tools/calls/call_stack.hpp"
#include "host-tools/calls/complete_calls.hpp"
#include "host-tools/calls/durations.hpp"
#include "host-tools/calls/function_table.hpp"
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
//   void on_exit(const OpenCall&, Outcome, bool incomplete, Ticks total, Ticks self, Ticks away)
//       a call with a time. Ticks are without the tracer's, and never negative. `incomplete`: a gap
//       lies inside. `away`, of `total`: its context did not run
//   MemoryBudget& budget()                                       for open and waiting calls
//   bool on_cpu                                    on_exit() gets the times away, else 0
//   void on_leaf(std::uint32_t parent_node, std::uint32_t site_offset, std::uint64_t index,
//                Ticks begin, Ticks total)
//       on_entry() and on_exit() of a call that returned, with no call inside and no gap
//   bool is_selected(std::uint32_t site_offset)    the part shows such calls: see hide()
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
    CallDecoder(const CallDecoder& other, Sink& sink) : CallDecoder(other) {
        sink_ = &sink;
        feed_ = nullptr;
    }

    // The calls go to a feed, too, or not any more (null). It is `core` of a CallFeed.
    void feed(CallFeed::Core* core) { feed_ = core; }
    // The part leaves out the calls that begin from now on, except those that wants() chooses.
    void hide(bool muted, bool selects) {
        muted_ = muted;
        selects_ = selects;
    }
    // The sums of the part have not begun: the sink is told nothing. begin_part() tells it the open
    // calls. Until then they have their sites' offsets instead of paths: offset_of(function).
    template <typename OffsetOf>
    void be_quiet(OffsetOf offset_of) {
        if (!std::exchange(quiet_, true)) unplace(offset_of);
    }
    template <typename OffsetOf>
    void unplace(OffsetOf offset_of) {
        for (std::size_t at = 1; at <= stack_.depth(); ++at) {
            OpenCall& call = stack_[at];
            if (!call.is_shown()) continue;
            call.path = {offset_of(call.path.function), 0};
            if (call.gaps_before == OpenCall::before_part) call.gaps_before = gaps_;
        }
    }
    bool is_quiet() const { return quiet_; }
    bool is_muted() const { return muted_; }
    // The records that come now belong to calls that the part shows.
    bool is_shown() const { return !muted_ && (!selects_ || stack_.top_is_shown()); }
    // The same of those behind a return, which tell of the call that it closed.
    bool closed_is_shown() const {
        return closed_ != Closed::none ? just_closed()->is_shown() : is_shown();
    }

    // Decodes records up to the first that is not plain; returns how many. `index`: of the first.
    std::size_t take_plain(std::span<const protocol::StampedRecord> records, std::uint64_t index) {
        if (!started_ || after_gap_ || in_tracer_ || unwinding_ || closed_ == Closed::by_jump ||
            muted_ || selects_ || (sink_->leaves_out_short && !quiet_))
            return 0;
        const bool feeds = feed_ != nullptr;
        if (quiet_)
            return feeds ? take_plain<true, false>(records, index)
                         : take_plain<false, false>(records, index);
        return feeds ? take_plain<true, true>(records, index)
                     : take_plain<false, true>(records, index);
    }
    // `feeds`: tells the feed. `tells`: tells the sink.
    template <bool feeds, bool tells>
    std::size_t take_plain(std::span<const protocol::StampedRecord> records, std::uint64_t index) {
        const Ticks not_ours = tracer_ticks_ + elsewhere_;
        const OpenCall* const room = stack_.room();
        OpenCall* top = &stack_.top();
        const protocol::StampedRecord* at = records.data();
        const protocol::StampedRecord* const end = at + records.size();
        const protocol::StampedRecord* const last_leaf = records.size() > 2 ? end - 2 : at;
        while (at != end) {
            const protocol::Record record = at->record;
            const Ticks now = at->clock - not_ours;
            if (record.high() == top->plain_end) {
                const Ticks ticks = not_negative(now - top->begin);
                if constexpr (tells) {
                    sink_->on_exit(*top, Outcome::returned, top->gaps_before != gaps_, ticks,
                                   not_negative(ticks - top->child), top->away);
                }
                if constexpr (feeds) feed_->end_plain(top->index, index, at->clock);
                const Ticks away = top->away;
                (--top)->child += ticks;
                if (away != 0) [[unlikely]]
                    top->away += away;
            } else if (record.kind() == protocol::Kind::entry) {
                if (top == room) break;
                const std::uint32_t offset = record.high() & ~7u;  // site_low(), without a shift
                if (at < last_leaf && is_leaf(at, index)) {
                    const Ticks ticks = not_negative(at[1].clock - at->clock);
                    if constexpr (tells) sink_->on_leaf(top->path.node, offset, index, now, ticks);
                    top->child += ticks;
                    if constexpr (feeds) {
                        feed_->begin_plain(offset, index, at->clock);
                        feed_->end_plain(index, index + 1, at[1].clock);
                    }
                    at += 2;
                    index += 2;
                    continue;
                }
                Begun begun{.path = {offset, root_}};
                if constexpr (tells) begun = sink_->on_entry(top->path.node, offset);
                open(*++top, index, now, begun);
                if constexpr (feeds) feed_->begin_plain(offset, index, at->clock);
            } else if (record.kind() == protocol::Kind::call) {
                if constexpr (tells) sink_->on_call_only(top->path.node, record.site_low());
                if constexpr (feeds) feed_->point_plain(record.site_low(), at->clock);
            } else {
                break;
            }
            ++at;
            ++index;
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
        if (feed_ != nullptr) feed_->reach(event.clock, tracer_ticks_at(event.clock));
        clock_ = event.clock;
        if (after_gap_) end_gap();
        const Closed before = closed_;
        if (event.kind != protocol::Kind::extended) closed_ = Closed::none;
        switch (event.kind) {
        case protocol::Kind::entry: return on_begin(event, event.site_offset, before);
        case protocol::Kind::ret: return on_return(event);
        case protocol::Kind::call:
            if (!wants(event.site_offset)) return;
            if (feed_ != nullptr) feed_->point(event.site_offset);
            if (quiet_) return;
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
    // `from_core`: its number.
    template <typename Move>
    void take_over(CallDecoder& from, unsigned from_core, std::uint64_t clock, bool unseen,
                   Move move) {
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
            if (stack_[at].index < OpenCall::first_core_tag)
                stack_[at].index += OpenCall::first_core_tag * (from_core + 1);
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
    // Gaps so far, of which has_gap() speaks.
    std::uint32_t gaps() const { return gaps_; }
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
    // The part leaves out the open calls.
    void hide_open_calls() {
        for (std::size_t at = 1; at <= stack_.depth(); ++at) {
            if (stack_[at].is_shown()) stack_[at].gaps_before = OpenCall::hidden;
        }
    }

    // A part of the recording begins at `clock`, which is after the last event and not after the
    // next: forgets all times before it, and the open calls begin there. Call it after be_quiet().
    // place(parent_node, path) returns the path of an open call, where `path.function` is its
    // site's offset.
    template <typename Place>
    void begin_part(std::uint64_t clock, std::uint32_t root, Place place) {
        quiet_ = false;
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
            if (call.is_shown()) call.gaps_before = OpenCall::before_part;
        }
    }
    // The paths of the open calls are other ones now.
    template <typename Place>
    void place_again(Place place) {
        for (std::size_t at = 1; at <= stack_.depth(); ++at) {
            OpenCall& call = stack_[at];
            if (call.is_gap())
                call.path = {0, sink_->gap_node()};
            else if (call.is_shown())
                call.path = place(stack_[at - 1].path.node, call.path);
            else
                call.path.node = root_;
        }
    }
    // The target has unwound up to `clock`: the clock stood still.
    void end_unwinding(std::uint64_t clock) {
        if (!std::exchange(unwinding_, false)) return;
        const Ticks ticks = not_negative(clock - clock_);
        if (feed_ != nullptr) feed_->pass_unwinding(clock, tracer_ticks_so_far() + ticks);
        tracer_ticks_ += ticks;
        stops_.remember(clock, tracer_ticks_ + elsewhere_);
    }
    // The part ends at `clock`: finish() ends the open calls there.
    void end_part(std::uint64_t clock) {
        if (!started_) return;
        end_unwinding(clock);
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
    // The same when the next record comes at `clock`, while the context runs.
    Ticks tracer_ticks_at(std::uint64_t clock, bool ends_unwinding = false) const {
        if (unwinding_ && ends_unwinding) return tracer_ticks_ + not_negative(clock - clock_);
        if (!in_tracer_ || stack_.depth() != tracer_depth_) return tracer_ticks_so_far();
        return tracer_ticks_ + not_negative(clock - tracer_begin_ - tracer_child_);
    }
    // The depth of the call that the tracer works on top of; nothing: the tracer does not work.
    std::optional<std::size_t> tracer_depth() const {
        return in_tracer_ ? std::optional(tracer_depth_) : std::nullopt;
    }
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
            if (call.is_shown()) {
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
        const bool is_wanted = wants(offset);
        if (quiet_ || !is_wanted) [[unlikely]]
            return begin_untold(event.index, offset, is_wanted);
        const std::uint32_t caller = stack_.top().path.node;
        const Begun begun =
            before == Closed::by_jump
                ? sink_->on_entry_by_jump(caller, offset, not_negative(now() - jumped_at_))
                : sink_->on_entry(caller, offset);
        if (!has_room()) {
            ++counters_.too_deep;
            if (feed_ != nullptr) feed_->point(offset);
            return;
        }
        open(stack_.push(), event.index, now(), begun);
        if (feed_ != nullptr) feed_->begin(offset, event.index);
    }
    // True: the part shows a call of this site that begins now.
    bool wants(std::uint32_t offset) const {
        return (!selects_ || stack_.top_is_shown() || sink_->is_selected(offset)) && !muted_;
    }
    void begin_untold(std::uint64_t index, std::uint32_t offset, bool is_wanted) {
        if (!has_room()) return void(++counters_.too_deep);
        open(stack_.push(), index, now(), {.path = {offset, root_}});
        if (!is_wanted) {
            stack_.top().gaps_before = OpenCall::hidden;
            stack_.top().plain_end = OpenCall::not_plain;
        } else if (feed_ != nullptr) {
            feed_->begin(offset, index);
        }
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
    // True if this entry's return comes next: no other call lies inside. Behind the return comes no
    // record that tells of the call, since the call will not be on the stack (just_closed()).
    [[gnu::always_inline]] static bool is_leaf(const protocol::StampedRecord* entry,
                                               std::uint64_t index) {
        return entry[1].record.high() == plain_return(index) &&
               entry[2].record.kind() != protocol::Kind::extended;
    }
    // One by one: the compiler would make a copy of a whole call.
    [[gnu::always_inline]] void open(OpenCall& call, std::uint64_t index, Ticks begin,
                                     const Begun& begun) const {
        call.index = index;
        call.begin = begin;
        call.child = call.away = 0;
        call.total_before = begun.total_before;
        call.taken_before = begun.taken_before;
        call.path.function = begun.path.function;
        call.path.node = begun.path.node;
        call.gaps_before = gaps_;
        call.plain_end = plain_return(index);
    }

    void on_return(const protocol::Event& event) {
        const std::size_t at = stack_.find(event);
        if (at == 0) return void(++counters_.orphan_returns);
        if (event.unwound && in_tracer_ && at <= tracer_depth_) {
            leave_in_tracer(at);
        } else {
            while (stack_.depth() > at) pop(End::implied);
            pop(event.unwound ? End::unwound : End::returned);
            unwinding_ = event.unwound && !in_tracer_;
        }
        closed_ = Closed::by_return;
        if (feed_ != nullptr) feed_->end_return(event.index);
    }
    // longjmp left a call that was open before the tracer's time: it ended when that time began.
    void leave_in_tracer(std::size_t at) {
        const Ticks clock = std::exchange(clock_, tracer_begin_ + tracer_child_);
        while (stack_.depth() > at) pop(End::implied);
        pop(End::unwound);
        clock_ = clock;
        in_tracer_ = true;
        tracer_depth_ = stack_.depth();
        if (feed_ != nullptr) feed_->continue_tracer();
    }
    // The target unwinds in the entry or hook whose record comes next: the clock stands still.
    void pass_unwinding(const protocol::Event& event) {
        if (event.kind == protocol::Kind::extended) {
            unwinding_ = event.clock == clock_;  // its data
            return;
        }
        end_unwinding(event.clock);
    }

    void on_extended(const protocol::Event& event) {
        if (event.extended != protocol::Extended::data) duration_.wanted = 0;
        switch (event.extended) {
        case protocol::Extended::interrupt:
            closed_ = Closed::none;
            on_begin(event, interrupt_offset(event.argument), Closed::none);
            stack_.top().plain_end = OpenCall::not_plain;  // so that the core sees its end
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
            if (feed_ != nullptr) feed_->begin_tracer(event.index);
            on_tracer_time(event.argument);
            if (closed_ == Closed::by_return && event.argument == 0 && !quiet_ &&
                sink_->on_jump(stack_.top().path.node)) {
                closed_ = Closed::by_jump;
                jumped_at_ = now();
            }
            return;
        case protocol::Extended::tracer_end:
            if (feed_ != nullptr) feed_->end_tracer();
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
        if (closed_ != Closed::by_jump && !quiet_)
            sink_->on_tracer_time(stack_.top().path.node, instructions);
    }
    Ticks tracer_part() const { return not_negative(clock_ - tracer_begin_ - tracer_child_); }
    void stop_tracer() {
        in_tracer_ = false;
        tracer_ticks_ += tracer_part();
        stops_.remember(clock_, tracer_ticks_ + elsewhere_);
    }

    // A duration record is complete: its call ends now. Its ticks include the tracer's time.
    void on_duration() {
        if (!wants(duration_.site)) return;
        if (is_part_)
            duration_.ticks = std::min(duration_.ticks, not_negative(clock_ - part_begin_));
        if (feed_ != nullptr) feed_->whole(duration_.site, duration_.ticks, duration_.depth);
        if (quiet_) return;
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
        const std::uint64_t index = stack_.top().index;
        OpenCall& marker = stack_.push();
        open(marker, index, last_before_gap_, {.path = {0, sink_->gap_node()}});
        marker.child = length;
        marker.plain_end = OpenCall::gap_marker;
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

    [[gnu::noinline]] Ticks close(const OpenCall& call, OpenCall& below, Ticks end,
                                  Outcome outcome) {
        const Ticks ticks = not_negative(end - call.begin);
        const bool is_shown = call.is_shown();
        if (feed_ != nullptr && is_shown) feed_->end(call.index, outcome == Outcome::returned);
        const bool is_told = is_shown && !quiet_;
        if (!is_told || sink_->leaves_out(call, ticks, outcome)) [[unlikely]] {
            below.child += is_told ? call.child : ticks;
            below.away += call.away;
            return ticks;
        }
        const Ticks self = not_negative(ticks - call.child);
        below.child += ticks;
        below.away += call.away;
        sink_->on_exit(call, outcome, call.gaps_before != gaps_, ticks, self, call.away);
        return ticks;
    }

    static constexpr std::size_t max_markers = 64;

    Sink* sink_;
    std::uint32_t root_ = 0;
    CallFeed::Core* feed_ = nullptr;
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
    bool quiet_ = false;      // see be_quiet() and hide()
    bool muted_ = false;
    bool selects_ = false;
    Closed closed_ = Closed::none;
};

}  // namespace nopscope::host
