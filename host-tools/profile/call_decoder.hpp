// SPDX-License-Identifier: Apache-2.0
// The records of one context of a core -> calls with times. This is the innermost loop of every
// command: no lookup by name, no allocation in the steady state, no virtual call; the sink is a
// template parameter.
//
// The stack holds the open calls, innermost last. A `ret` names its entry by record index, so it
// closes that call whatever else was lost. Four things make time less simple than subtraction:
//
//   tracer   Between tracer_begin and tracer_end the core worked for the tracer. Times are read off
//            a clock that stands still meanwhile (`tracer_ticks_` is taken from every reading).
//            Calls inside the interval (an interrupt's) keep their own time.
//   gap      Records are missing. Which open calls ended in there is unknown until a later return
//            names one of them: that one and all below it stayed open. So a gap puts a marker on
//            the stack; what comes after is a child of the marker, not of a call that may be over.
//            When a call below the marker returns, the marker's calls and the gap itself count as
//            its children (not as its own time), and those between it and the marker are `lost`:
//            they ended unseen, and are charged up to the gap.
//   context  The core ran another context's calls (docs/trace-format.md); each context has its own decoder.
//            What is open meanwhile has that time in its total, as if it were a call's, and not as its own.
//   unwound  A call that was left without returning (longjmp): the target says so, or the return of
//            a call below it shows it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tracer/wire/event.hpp"

namespace nopscope {

// Modulo 2^64, as outside bytes may hold any clock; differences are read as signed.
using Ticks = std::uint64_t;
constexpr Ticks not_negative(Ticks difference) {
    return static_cast<std::int64_t>(difference) > 0 ? difference : 0;
}

enum class Outcome : std::uint8_t {
    returned,
    unwound,  // left by longjmp or an exception
    lost,     // its end is in a gap
    open,     // the session ended first
};

struct OpenCall {
    std::uint64_t index = 0;         // record index of the entry
    Ticks begin = 0;                 // without the tracer's
    Ticks child = 0;                 // spent in calls that have closed
    std::uint64_t total_before = 0;  // the function's total when the call began: see close()
    std::uint32_t function = 0;
    std::uint32_t node = 0;
    std::uint32_t gaps_before = 0;  // gaps this core had when the call began
    bool is_gap = false;            // a marker, not a call
};

// What became of a call, in ticks without the tracer's, never negative.
struct ClosedCall {
    Outcome outcome{};
    bool incomplete = false;  // a gap lies between its entry and its end
    Ticks ticks = 0;
    Ticks self_ticks = 0;
};

struct DecoderCounters {
    std::uint64_t orphan_returns = 0;  // their entry is not open: lost, or of no call seen
    std::uint64_t too_deep = 0;        // entries counted as calls without time
    std::uint64_t unknown_records = 0;
};

// Sink:
//   std::uint32_t function(std::uint32_t site_offset)
//   std::uint32_t node(std::uint32_t parent, std::uint32_t function)   0 is the root
//   std::uint32_t gap_node()
//   std::uint64_t total_of(std::uint32_t function)
//   void called(std::uint32_t function, std::uint32_t node)            a call, at its entry
//   void passed(std::uint32_t function, std::uint32_t node)            a `call` record's
//   void closed(const OpenCall&, const ClosedCall&)                    a call with a time
template <typename Sink>
class CallDecoder {
public:
    static constexpr std::size_t max_depth = std::size_t{1} << 16;

    explicit CallDecoder(Sink& sink) : sink_(sink) { stack_.reserve(256); }

    void on_event(const wire::Event& event) {
        if (!started_) start(event.clock);
        clock_ = event.clock;
        if (after_gap_) end_gap();
        switch (event.kind) {
        case wire::Kind::entry:
            return on_entry(event);
        case wire::Kind::ret:
            return on_return(event);
        case wire::Kind::call:
            return on_call(event);
        case wire::Kind::extended:
            return on_extended(event);
        }
    }

    // Records are missing between the last event and the next.
    void on_gap() {
        if (!started_) return;
        ++gaps_;
        // Whether the tracer stopped in there is unknown: its time up to the gap is known.
        if (in_tracer_) stop_tracer();
        if (!after_gap_) last_before_gap_ = now();
        after_gap_ = true;
    }

    // The core comes back to this context at `clock`. Of the time since its last event `tracer` ticks
    // were the tracer's, in other contexts.
    void resume(std::uint64_t clock, Ticks tracer) {
        if (!started_) return;
        const Ticks away = not_negative(clock - clock_ - tracer);
        clock_ = clock;
        elsewhere_ += tracer;
        if (after_gap_ || stack_.empty()) return;  // the gap's length has it
        stack_.back().child += away;
        if (in_tracer_ && stack_.size() == tracer_depth_) tracer_child_ += away;
    }
    // The last event before the core left it.
    void suspend(std::uint64_t clock) {
        if (!started_) return;
        if (after_gap_) return;
        clock_ = clock;
    }
    // The call that runs; null: none, or a gap lies since.
    const OpenCall* innermost() const {
        return stack_.empty() || stack_.back().is_gap ? nullptr : &stack_.back();
    }
    // The return's entry is open here.
    bool has_entry_of(const wire::Event& event) const { return find(event) != stack_.size(); }

    // The session is over: what is open stays so, up to the last event.
    void finish() {
        if (in_tracer_) stop_tracer();
        while (!stack_.empty()) pop(End::session);
        carry_ = {};
        markers_ = 0;
        started_ = after_gap_ = false;
    }

    const DecoderCounters& counters() const { return counters_; }
    Ticks tracer_ticks() const { return tracer_ticks_; }
    Ticks first_clock() const { return first_clock_; }
    Ticks last_clock() const { return clock_; }
    bool started() const { return started_; }

private:
    // Why a call leaves the stack: its own return, that of a call below it, or the session's end.
    enum class End : std::uint8_t { returned, unwound, implied, session };

    // What a marker that has been popped leaves for the calls below it.
    struct Carry {
        bool active = false;
        Ticks cut = 0;    // when its gap began: calls that were lost are charged up to here
        Ticks after = 0;  // the gap's length, and the calls since
    };

    Ticks now() const { return clock_ - tracer_ticks_ - elsewhere_; }

    void start(std::uint64_t clock) {
        started_ = true;
        first_clock_ = clock_ = clock;
    }

    void on_call(const wire::Event& event) {
        const std::uint32_t function = sink_.function(event.site_offset);
        sink_.passed(function, sink_.node(top_node(), function));
    }

    void on_entry(const wire::Event& event) {
        const std::uint32_t function = sink_.function(event.site_offset);
        const std::uint32_t node = sink_.node(top_node(), function);
        sink_.called(function, node);
        if (stack_.size() >= max_depth) {
            ++counters_.too_deep;
            return;
        }
        stack_.push_back({.index = event.index,
                          .begin = now(),
                          .child = 0,
                          .total_before = sink_.total_of(function),
                          .function = function,
                          .node = node,
                          .gaps_before = gaps_,
                          .is_gap = false});
    }

    void on_return(const wire::Event& event) {
        const std::size_t at = find(event);
        if (at == stack_.size()) {
            ++counters_.orphan_returns;
            return;
        }
        while (stack_.size() > at + 1) pop(End::implied);
        pop(event.unwound ? End::unwound : End::returned);
    }

    // The open call that the return names, or stack_.size(). Record indices ascend up the stack, so
    // the search ends at the first older one, unless calls are open for longer than the 28 bits of
    // an entry's index last.
    std::size_t find(const wire::Event& event) const {
        const std::uint64_t distance = (event.index - event.entry_index) & wire::entry_index_mask;
        const std::uint64_t wanted = event.index - distance;
        const bool wrapped =
            !stack_.empty() && event.index - stack_.front().index > wire::entry_index_mask;
        for (std::size_t i = stack_.size(); i-- > 0;) {
            const OpenCall& call = stack_[i];
            if (call.is_gap) continue;
            if (((call.index ^ wanted) & wire::entry_index_mask) == 0) return i;
            if (!wrapped && call.index < wanted) break;
        }
        return stack_.size();
    }

    void on_extended(const wire::Event& event) {
        switch (event.extended) {
        case wire::Extended::sync:
        case wire::Extended::context:
        case wire::Extended::marker:
        case wire::Extended::duration:
        case wire::Extended::arguments:
        case wire::Extended::result:
        case wire::Extended::counter:
        case wire::Extended::data:
            return;
        case wire::Extended::tracer_begin:
            // One that is still open lost its end to a full ring: nothing is known of it.
            in_tracer_ = true;
            tracer_depth_ = stack_.size();
            tracer_begin_ = clock_;
            tracer_child_ = 0;
            return;
        case wire::Extended::tracer_end:
            if (in_tracer_) stop_tracer();
            return;
        }
        ++counters_.unknown_records;
    }

    void stop_tracer() {
        in_tracer_ = false;
        tracer_ticks_ += not_negative(clock_ - tracer_begin_ - tracer_child_);
    }

    // The first event after a gap: what follows hangs from a marker. Its `child` begins as the
    // gap's own length, which is no call's time.
    void end_gap() {
        after_gap_ = false;
        if (stack_.empty()) return;
        const Ticks length = not_negative(now() - last_before_gap_);
        if (stack_.back().is_gap) {
            stack_.back().child += length;
            return;
        }
        if (markers_ == max_markers) collapse_oldest();
        if (stack_.size() >= max_depth) return;
        ++markers_;
        stack_.push_back({.index = stack_.back().index,
                          .begin = last_before_gap_,
                          .child = length,
                          .total_before = 0,
                          .function = 0,
                          .node = sink_.gap_node(),
                          .gaps_before = gaps_,
                          .is_gap = true});
    }

    // Gives up on the calls between the two oldest markers: a target that never returns to below
    // the first one must not grow the stack for ever.
    void collapse_oldest() {
        const auto is_marker = [](const OpenCall& call) { return call.is_gap; };
        const auto first = std::find_if(stack_.begin(), stack_.end(), is_marker);
        const auto second = std::find_if(first + 1, stack_.end(), is_marker);
        for (auto call = second - 1; call != first; --call) {
            close(*call, *(call - 1), second->begin, Outcome::lost);
        }
        first->child += second->child;
        stack_.erase(first + 1, second + 1);
        --markers_;
    }

    // The innermost call or marker leaves the stack.
    void pop(End end) {
        const OpenCall call = stack_.back();
        stack_.pop_back();
        if (in_tracer_ && stack_.size() < tracer_depth_) in_tracer_ = false;
        OpenCall& below = stack_.empty() ? nobody_ : stack_.back();
        if (call.is_gap) {
            --markers_;
            carry_ = {true, call.begin, call.child + carry_.after};
            return;
        }
        if (end == End::implied && carry_.active) {
            close(call, below, carry_.cut, Outcome::lost);
            return;
        }
        OpenCall whole = call;
        whole.child += carry_.after;
        carry_ = {};
        const Ticks ticks = close(whole, below, now(),
                                  end == End::session    ? Outcome::open
                                  : end == End::returned ? Outcome::returned
                                                         : Outcome::unwound);
        if (in_tracer_ && stack_.size() == tracer_depth_) tracer_child_ += ticks;
    }

    Ticks close(const OpenCall& call, OpenCall& below, Ticks end, Outcome outcome) {
        const Ticks ticks = not_negative(end - call.begin);
        const Ticks self = not_negative(ticks - call.child);
        below.child += ticks;
        sink_.closed(call, {.outcome = outcome,
                            .incomplete = call.gaps_before != gaps_,
                            .ticks = ticks,
                            .self_ticks = self});
        return ticks;
    }

    std::uint32_t top_node() const { return stack_.empty() ? 0 : stack_.back().node; }

    static constexpr std::size_t max_markers = 64;

    Sink& sink_;
    std::vector<OpenCall> stack_;
    OpenCall nobody_;  // what the outermost call hands its time to
    Carry carry_;
    DecoderCounters counters_;
    Ticks clock_ = 0;  // of the last event, ticks
    Ticks first_clock_ = 0;
    Ticks tracer_ticks_ = 0;
    Ticks elsewhere_ = 0;  // the tracer's, while the core was in another context
    Ticks tracer_begin_ = 0;
    Ticks tracer_child_ = 0;
    Ticks last_before_gap_ = 0;  // without the tracer's
    std::size_t tracer_depth_ = 0;
    std::size_t markers_ = 0;
    std::uint32_t gaps_ = 0;
    bool started_ = false;
    bool after_gap_ = false;
    bool in_tracer_ = false;
};

}  // namespace nopscope
