// SPDX-License-Identifier: Apache-2.0
// Decodes the records of all cores into calls, once, and tells those of the part that is shown. The
// innermost loop is CallDecoder's; this part finds the context of each record.
//
// A context of a core has a decoder. A core runs one context at a time. Tasks may go on on another
// core (docs/trace-format.md, "Moves"); each core has a Context of its own for each number, and the
// open calls go over. MovesInOrder stands before this stream.
//
// A part is a filter of calls, not of records. All records of the wanted cores are decoded. Before
// the part's begin, the decoders are quiet; then the open calls begin there (CallDecoder). The
// calls of other tasks, and those outside of the wanted functions, are open without being told.
//
// `Context` is the sink of its CallDecoder `decoder`, and derives from StreamedContext. The virtual
// functions below come with switches, marks and data, and never with plain calls.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "host-tools/calls/call_decoder.hpp"
#include "host-tools/calls/call_feed.hpp"
#include "host-tools/calls/part_filter.hpp"
#include "host-tools/calls/tasks.hpp"
#include "host-tools/calls/tick_time.hpp"

namespace nopscope::host {

struct StreamedContext {
    explicit StreamedContext(std::uint32_t its_number) : number(its_number) {}

    std::uint32_t number;
    Ticks left_at = 0;  // the core's tracer_ticks when the core left this context
    Ticks counted = 0;  // the decoder's tracer ticks that the core's tracer_ticks include
    Ticks entered = 0;  // when it last began to run
    Ticks ran_ticks = 0;
};

template <typename Context>
class CallStream : public SessionSink {
public:
    // The calls go to a feed, too. Call it before the first record.
    void tell(CallFeed& to) { feed_ = &to; }
    // The contexts are told of no call. Call it before the first record.
    void tell_feed_only() { tells_feed_only_ = true; }
    // Only the calls of this part are told. Call it before the first record, or before zero().
    void show(PartFilter part) { filter_ = std::move(part); }
    const PartFilter& part() const { return filter_; }

    void on_origin(std::uint64_t clock) override { begin_axis(clock); }
    void on_trace(unsigned number, const TraceBatch& batch) override;
    void on_missing(unsigned number, const MissingPart& part) override;
    void on_console(std::string_view text) override {
        const Core* const core = cores_[0].get();
        const bool is_shown =
            core != nullptr ? core->phase == Phase::inside : filter_.begins_at_0();
        if (feed_ != nullptr && is_shown) feed_->on_console(text);
    }
    void on_clock_pair(const ClockPair& pair) override {
        if (feed_ != nullptr) feed_->on_clock_pair(pair);
    }
    const Error* failure() const override { return failure_ ? &*failure_ : nullptr; }

    enum class Phase : std::uint8_t { before, inside, after };  // of the part's time

    struct Core {
        Core(CallStream& its_stream, unsigned its_number) : stream(its_stream), number(its_number) {
            current = &context(0);
        }
        Core(const Core& other, CallStream& its_stream);

        Context& context(std::uint32_t wanted);
        // Null: the core has not run such a context.
        Context* known(std::uint32_t wanted) const {
            const auto found = by_number.find(wanted);
            return found != by_number.end() ? found->second : nullptr;
        }
        // That context, which has left this core, or null. It does not run any more.
        Context* left(std::uint32_t wanted);
        // The core left the running context at `left_at`, and has run `to` since `entered`.
        void enter(Context& to, std::uint64_t left_at, std::uint64_t entered);
        void stop_running(std::uint64_t clock);
        // Ends the time that other contexts ran, so all contexts' clocks are at `clock`.
        void bring_to(std::uint64_t clock);
        // The tracer's ticks of this session, up to this record that comes now.
        Ticks tracer_at(const protocol::StampedRecord& next) const {
            const bool is_call = next.record.kind() != protocol::Kind::extended;
            return tracer_base() + current->decoder.tracer_ticks_at(next.clock, is_call);
        }
        Ticks tracer_so_far() const { return tracer_base() + current->decoder.tracer_ticks(); }
        Ticks tracer_base() const { return earlier_tracer + tracer_ticks - current->counted; }
        // The clock that the axis of times shows at this time of the running context's decoder.
        std::uint64_t axis_clock(Ticks time) const {
            return current->decoder.clock_at(time) - (stream.cuts_ ? tracer_so_far() : 0);
        }
        // A record's clock, without the tracer's time where the axis of times is without it.
        std::uint64_t axis_of(std::uint64_t clock) const {
            return clock - (stream.cuts_ ? tracer_so_far() : 0);
        }
        void schedule(TaskEvent what, std::uint64_t clock, std::uint64_t data = 0) {
            if (tells()) stream.on_schedule(*this, what, axis_of(clock), data);
        }
        // The sink gets what lies beside the calls, too.
        bool tells() const { return phase == Phase::inside && !stream.tells_feed_only_; }
        // A context's number stands for another task now.
        void begin_anew() {
            by_number.clear();
            current = &context(0);
            to_feed(*current);
        }
        void on_records(std::span<const protocol::StampedRecord> records, std::uint64_t index);
        void on_record(const protocol::StampedRecord& record, std::uint64_t index);
        void on_event(const protocol::Event& event);
        void on_data();
        void find_context_of(const protocol::Event& event, std::uint64_t before);
        void on_gap();
        void finish();
        Context& add(std::unique_ptr<Context> one);
        void filter(Context& one) {
            const bool wanted = stream.filter_.wants_task(stream.sessions_, number, one.number);
            one.decoder.hide(!wanted, stream.filter_.selects());
        }
        // The decoder tells the feed, if the core is shown.
        void to_feed(Context& one) {
            one.decoder.feed(feed);
            if (feed != nullptr && &one == current) feed->set_cut_base(tracer_base());
        }

        // The part.
        Nanoseconds since_origin(const protocol::StampedRecord& next) const;
        std::uint64_t clock_at(Nanoseconds time, const protocol::StampedRecord& next) const;
        void cross(const protocol::StampedRecord& next);
        std::size_t records_before_end(std::span<const protocol::StampedRecord> records) const;
        void be_quiet();
        void begin_part(std::uint64_t clock);
        void end_part(std::uint64_t clock);
        void tell_missing(std::optional<std::uint64_t> begin, std::optional<std::uint64_t> end);
        void show_open_calls();

        CallStream& stream;
        unsigned number;
        Phase phase = Phase::inside;
        CallFeed::Core* feed = nullptr;  // null: the core is not shown, or there is no feed
        std::vector<std::unique_ptr<Context>> contexts;
        std::unordered_map<std::uint32_t, Context*> by_number;
        Context* current = nullptr;
        WithData with_data;
        std::uint64_t last_clock = 0;  // of the last event
        bool has_record = false;       // of this session
        std::uint64_t part_begin = 0;  // clock; 0: the core is shown from the session's begin
        Ticks tracer_ticks = 0;        // of its contexts, each up to when the core last left it
        Ticks earlier_tracer = 0;      // before the part, less that of sessions that are over
        bool runs = false;             // a record came after the session's begin and the last gap
        // The one that ran before the last `context` record. A `left` record may tell how it left.
        std::uint32_t last_context = protocol::several_contexts;
        // A return has shown that the core left this one; the record of the switch is to come.
        std::uint32_t left_by_return = protocol::several_contexts;
        std::vector<MissingPart> missing;  // waits for the core's next record
    };

protected:
    CallStream() = default;
    // Without a feed and cores: then call copy_cores().
    CallStream(const CallStream& other);
    void copy_cores(const CallStream& other);

    virtual std::unique_ptr<Context> copy_context(const Core& core, const Context& other) = 0;
    virtual std::unique_ptr<Context> new_context(const Core& core, std::uint32_t number) = 0;
    // False: there is no room for another context.
    virtual bool takes_context() = 0;
    virtual void on_schedule(const Core&, TaskEvent what, std::uint64_t axis_clock,
                             std::uint64_t data) = 0;
    // A core left this context. It may be several_contexts: not known.
    virtual void on_left(const Core&, std::uint32_t context, protocol::Left how) = 0;
    virtual void on_marker(const Core&, const protocol::Event&) = 0;
    // A record is complete: samples, values, counts, facts of tasks but `moved`.
    virtual void on_record(Core&, const WithData&) = 0;
    virtual void tell_missing(unsigned core, const MissingPart&) = 0;
    // A function's site.
    virtual std::uint32_t offset_of(std::uint32_t function) const = 0;
    // The session is over: the contexts' calls have ended.
    virtual void on_core_end(Core&) = 0;

    struct Span {
        std::uint64_t first = 0;
        std::uint64_t last = 0;
    };
    // The first and last clock of this session's calls; nothing: there are none yet. `all`: also of
    // cores whose part has not begun.
    std::optional<Span> span(bool all = false) const;
    template <typename Visit>
    void for_each_context(Visit visit) const {
        for (const auto& core : cores_) {
            if (!core) continue;
            for (const auto& context : core->contexts) visit(*context);
        }
    }
    void begin_session(const HelloInfo& hello);
    // All contexts' calls end.
    void end_session();
    void begin_axis(std::uint64_t clock) {
        const std::uint64_t now = time_(clock);
        if (!origin_) origin_ = now;
        if (feed_ != nullptr) feed_->begin_axis(clock);
    }
    void on_tasks_of_part(const std::uint8_t* payload, std::size_t count) {
        if (!filter_.has_tasks()) return;
        filter_.on_tasks(sessions_, payload, count);
        filter_again();
    }
    Core& core(unsigned number);
    void filter_again() {
        for (const auto& core : cores_) {
            if (!core) continue;
            for (const auto& one : core->contexts) core->filter(*one);
        }
    }
    // The feed's core; null: there is no feed.
    CallFeed::Core* core_of_feed(unsigned number, bool announces = true) {
        if (feed_ == nullptr) return nullptr;
        const auto core = feed_->core(number, announces);
        if (!core) give_up(core.error());
        return core.value_or(nullptr);
    }
    // The feed failed: it gets nothing more.
    void give_up(const Error& error) {
        failure_ = error;
        feed_ = nullptr;
        for (const auto& core : cores_) {
            if (core) core->feed = nullptr;
        }
        for_each_context([](Context& one) { one.decoder.feed(nullptr); });
    }
    void take_over(Core& to, unsigned from, std::uint64_t clock, bool unseen);
    // Nothing is told to the contexts until `clock`, which may lie ahead: they begin again then.
    void begin_again(std::optional<std::uint64_t> clock);

    static constexpr std::size_t max_contexts = 65'536;  // more count as the core's last one

    CallFeed* feed_ = nullptr;
    std::optional<Error> failure_;
    bool tells_feed_only_ = false;
    PartFilter filter_;
    std::array<std::unique_ptr<Core>, 256> cores_;
    std::size_t context_count_ = 0;  // of all cores
    TickTime time_;
    bool cuts_ = false;                    // in this session: cuts_tracer_out()
    std::optional<std::uint64_t> origin_;  // ns: the recording's first record
    std::uint64_t latest_ = 0;             // ns: of sessions that are over
    std::uint64_t sessions_ = 0;           // that are over
    std::uint64_t clock_hz_ = 1;
    // After begin_again() in this session: the clock at which the sums begin.
    std::optional<std::uint64_t> zero_clock_;
    // The first clock of this session's calls, also of those before the part.
    std::optional<std::uint64_t> first_clock_;
};

template <typename Context>
CallStream<Context>::Core::Core(const Core& other, CallStream& its_stream)
    : stream(its_stream),
      number(other.number),
      phase(other.phase),
      with_data(other.with_data),
      last_clock(other.last_clock),
      has_record(other.has_record),
      part_begin(other.part_begin),
      tracer_ticks(other.tracer_ticks),
      earlier_tracer(other.earlier_tracer),
      runs(other.runs),
      last_context(other.last_context),
      left_by_return(other.left_by_return),
      missing(other.missing) {
    for (const auto& context : other.contexts) {
        Context& copy = add(stream.copy_context(*this, *context));
        if (context.get() == other.current) current = &copy;
    }
}

template <typename Context>
CallStream<Context>::CallStream(const CallStream& other)
    : SessionSink(),
      filter_(other.filter_),
      time_(other.time_),
      cuts_(other.cuts_),
      origin_(other.origin_),
      latest_(other.latest_),
      sessions_(other.sessions_),
      clock_hz_(other.clock_hz_),
      zero_clock_(other.zero_clock_),
      first_clock_(other.first_clock_) {}

template <typename Context>
void CallStream<Context>::copy_cores(const CallStream& other) {
    for (std::size_t i = 0; i < cores_.size(); ++i) {
        if (other.cores_[i]) cores_[i] = std::make_unique<Core>(*other.cores_[i], *this);
    }
}

template <typename Context>
void CallStream<Context>::begin_session(const HelloInfo& hello) {
    clock_hz_ = hello.clock_hz;
    cuts_ = cuts_tracer_out(hello);
    filter_.on_session(hello);
    if (feed_ != nullptr) {
        if (const auto result = feed_->on_session(hello); !result) give_up(result.error());
    }
    time_.begin_session(hello.clock_hz, latest_);
}

template <typename Context>
void CallStream<Context>::end_session() {
    for (const auto& core : cores_) {
        if (core && core->phase == Phase::inside) core->tell_missing({}, {});
    }
    if (feed_ != nullptr) feed_->on_session_end();
    for (const auto& core : cores_) {
        if (core) core->finish();
    }
    if (std::exchange(zero_clock_, std::nullopt)) {
        for (auto& core : cores_) {
            if (core && core->phase == Phase::before) core.reset();
        }
    }
    first_clock_.reset();
    ++sessions_;
    if (filter_.has_tasks()) filter_again();
}

template <typename Context>
std::optional<typename CallStream<Context>::Span> CallStream<Context>::span(bool all) const {
    std::optional<Span> sum;
    for (const auto& core : cores_) {
        if (!core || (!all && core->phase == Phase::before)) continue;
        for (const auto& context : core->contexts) {
            const auto& decoder = context->decoder;
            if (!decoder.started()) continue;
            const Span one{decoder.first_clock(), decoder.last_clock()};
            if (!sum) sum = one;
            if (not_negative(sum->first - one.first) != 0) sum->first = one.first;
            if (not_negative(one.last - sum->last) != 0) sum->last = one.last;
        }
    }
    return sum;
}

template <typename Context>
void CallStream<Context>::on_missing(unsigned number, const MissingPart& part) {
    filter_.saw_core(number);
    if (!filter_.wants(number)) return;
    auto& core = cores_[number & 0xff];
    const bool waits = filter_.has_time() || zero_clock_;
    if (waits && !core) (void)this->core(number);
    if (core && core->phase == Phase::after) return;
    if (waits) return core->missing.push_back(part);
    if (!tells_feed_only_) tell_missing(number, part);
    if (CallFeed::Core* const feed = core_of_feed(number)) feed->missing(part);
}

template <typename Context>
typename CallStream<Context>::Core& CallStream<Context>::core(unsigned number) {
    auto& slot = cores_[number & 0xff];
    if (slot) return *slot;
    slot = std::make_unique<Core>(*this, number & 0xff);
    if (!filter_.has_time()) slot->feed = core_of_feed(number);
    if (filter_.has_time() || zero_clock_) slot->be_quiet();
    slot->to_feed(*slot->current);
    return *slot;
}

template <typename Context>
void CallStream<Context>::on_trace(unsigned number, const TraceBatch& batch) {
    const auto& records = batch.records;
    if (!time_.started() && !records.empty()) begin_axis(records.front().clock);
    filter_.saw_core(number);
    if (!filter_.wants(number)) return;
    Core& core = this->core(number);
    if (core.phase == Phase::after) return;
    if (feed_ != nullptr && !records.empty())
        feed_->on_records(records.front().clock, records.back().clock);
    if (batch.gap) {
        core.on_gap();
        Context& next = core.context(batch.context);
        if (core.feed != nullptr) core.feed->gap(batch.context);
        core.enter(next, batch.base, batch.base);
        core.schedule(TaskEvent::run, batch.base, batch.context);
    }
    core.on_records(records, batch.first_index);
    if (feed_ != nullptr) feed_->tell_clock_pair();
}

template <typename Context>
void CallStream<Context>::Core::on_records(std::span<const protocol::StampedRecord> records,
                                           std::uint64_t index) {
    if (!current->decoder.is_muted() && !records.empty()) stream.filter_.saw_task();
    while (!records.empty()) {
        std::size_t most = records.size();
        if (phase != Phase::inside || stream.filter_.has_time()) [[unlikely]] {
            cross(records.front());
            if (phase == Phase::after) return;
            most = records_before_end(records);
        }
        std::size_t taken = 0;
        if (feed == nullptr || !feed->attends())
            taken = current->decoder.take_plain(records.first(most), index);
        if (taken != 0) last_clock = records[taken - 1].clock;
        index += taken;
        records = records.subspan(taken);
        if (taken == most) continue;
        on_record(records.front(), index++);
        records = records.subspan(1);
    }
}

template <typename Context>
Context& CallStream<Context>::Core::context(std::uint32_t wanted) {
    if (Context* const one = known(wanted)) return *one;
    // Outside data may name any number; a firmware has few. Each core always gets one.
    const bool is_first = contexts.empty();
    const bool has_room = stream.context_count_ < max_contexts && stream.takes_context();
    if (!has_room && !is_first) return *contexts.back();
    Context& added = add(stream.new_context(*this, wanted));
    filter(added);
    if (phase == Phase::before || stream.tells_feed_only_)
        added.decoder.be_quiet([](std::uint32_t offset) { return offset; });
    added.decoder.feed(feed);
    return added;
}

template <typename Context>
Context& CallStream<Context>::Core::add(std::unique_ptr<Context> one) {
    ++stream.context_count_;
    by_number.emplace(one->number, one.get());
    return *contexts.emplace_back(std::move(one));
}

template <typename Context>
void CallStream<Context>::Core::enter(Context& to, std::uint64_t left_at, std::uint64_t entered) {
    if (&to == current) return;
    const bool ran = runs;
    stop_running(left_at);
    runs = ran;
    to.entered = entered;
    current->decoder.suspend(left_at);
    tracer_ticks += current->decoder.tracer_ticks_so_far() - current->counted;
    current->counted = current->decoder.tracer_ticks_so_far();
    current->left_at = tracer_ticks;
    to.decoder.resume(entered, tracer_ticks - to.left_at);
    current = &to;
    if (feed != nullptr) feed->set_cut_base(tracer_base());
}

template <typename Context>
void CallStream<Context>::Core::stop_running(std::uint64_t clock) {
    if (runs) current->ran_ticks += not_negative(clock - current->entered);
    runs = false;
}

template <typename Context>
void CallStream<Context>::Core::bring_to(std::uint64_t clock) {
    Context* const last = current;
    for (const auto& one : contexts) enter(*one, clock, clock);
    enter(*last, clock, clock);
}

template <typename Context>
void CallStream<Context>::Core::on_record(const protocol::StampedRecord& record,
                                          std::uint64_t index) {
    if (feed != nullptr) feed->attend(record);
    on_event(protocol::event_of(record, index));
    has_record = true;
}

template <typename Context>
void CallStream<Context>::Core::on_event(const protocol::Event& event) {
    if (!std::exchange(runs, true)) current->entered = event.clock;
    const std::uint64_t before = std::exchange(last_clock, event.clock);
    const bool is_extended = event.kind == protocol::Kind::extended;
    if (is_extended && event.extended == protocol::Extended::context) {
        Context& next = context(event.argument);
        const std::uint32_t by_return = std::exchange(left_by_return, protocol::several_contexts);
        const bool is_late = &next == current && by_return != protocol::several_contexts;
        last_context = is_late ? by_return : current->number;
        if (feed != nullptr) {
            feed->reach(event.clock, current->decoder.tracer_ticks_at(event.clock));
            feed->enter(event.argument);
        }
        enter(next, event.clock, event.clock);
        if (!next.decoder.is_muted()) stream.filter_.saw_task();
        return schedule(TaskEvent::run, event.clock, event.argument);
    }
    if (event.kind == protocol::Kind::ret && contexts.size() > 1 &&
        !current->decoder.has_entry_of(event))
        find_context_of(event, before);
    current->decoder.on_event(event);
    if (event.kind == protocol::Kind::ret) current->pass_events_on();
    if (with_data.take(event)) on_data();
    if (!is_extended) return;
    if (event.extended == protocol::Extended::task &&
        protocol::task_fact(event.argument) == protocol::TaskFact::left) {
        const std::uint32_t of = std::exchange(last_context, protocol::several_contexts);
        const protocol::Left how = protocol::how_left(event.argument);
        schedule(TaskEvent::left, event.clock, static_cast<std::uint64_t>(how));
        if (tells()) stream.on_left(*this, of, how);
    }
    if (event.extended != protocol::Extended::marker || !current->decoder.is_shown()) return;
    if (tells()) stream.on_marker(*this, event);
    if (feed != nullptr) feed->mark(event.argument);
}

template <typename Context>
void CallStream<Context>::Core::on_data() {
    const protocol::Event& head = with_data.head();
    const auto& decoder = current->decoder;
    bool is_shown =
        head.extended == protocol::Extended::result || head.extended == protocol::Extended::events
            ? decoder.closed_is_shown()
            : decoder.is_shown();
    if (head.extended == protocol::Extended::task) {
        const protocol::TaskFact fact = protocol::task_fact(head.argument);
        const std::uint64_t data = with_data.data()[0];
        if (fact == protocol::TaskFact::moved)
            return stream.take_over(*this, protocol::moved_from(data), head.clock, false);
        if (fact == protocol::TaskFact::ready) {
            is_shown = true;
            schedule(TaskEvent::ready, head.clock, data);
            if (feed != nullptr) feed->ready(data);
        }
        if (fact == protocol::TaskFact::waits && is_shown)
            schedule(TaskEvent::waits, head.clock, data);
    }
    if (!is_shown) return;
    if (tells()) stream.on_record(*this, with_data);
    if (feed != nullptr) feed->data(with_data);
}

template <typename Context>
void CallStream<Context>::Core::on_gap() {
    last_context = left_by_return = protocol::several_contexts;
    schedule(TaskEvent::gap, last_clock);
    stop_running(last_clock);
    for (const auto& one : contexts) one->decoder.on_gap();
}

// Open calls of a context end with the session, not when the context last ran.
template <typename Context>
void CallStream<Context>::Core::finish() {
    last_context = left_by_return = protocol::several_contexts;
    missing.clear();
    stop_running(last_clock);
    bring_to(last_clock);
    if (stream.origin_) {
        const std::uint64_t end = stream.time_(last_clock - (stream.cuts_ ? tracer_so_far() : 0));
        stream.latest_ = std::max(stream.latest_, end);
    }
    for (const auto& one : contexts) one->decoder.finish();
    if (phase != Phase::before) stream.on_core_end(*this);
    current = contexts.front().get();
    with_data = {};
    has_record = false;
    earlier_tracer = 0;
    earlier_tracer -= tracer_so_far();
    if (feed != nullptr) feed->set_cut_base(tracer_base());
}

// --- Tasks that move

// Context 0 is each core's own, and several_contexts stands for no certain one.
inline bool can_move(std::uint32_t context) {
    return context != 0 && context != protocol::several_contexts;
}

// This core's record of its next context may come later. Until then it runs an unknown one.
template <typename Context>
Context* CallStream<Context>::Core::left(std::uint32_t wanted) {
    Context* const one = known(wanted);
    if (one != nullptr && one == current)
        enter(context(protocol::several_contexts), last_clock, last_clock);
    return one == current ? nullptr : one;
}

// The context that `to` runs was on core `from` before. Its calls may cross the begin of the part.
template <typename Context>
void CallStream<Context>::take_over(Core& to, unsigned from, std::uint64_t clock, bool unseen) {
    Context& here = *to.current;
    if (!can_move(here.number) || from == to.number) return;
    Core* const core = cores_[from & 0xff].get();
    Context* const left = core != nullptr ? core->left(here.number) : nullptr;
    if (left == nullptr) return;
    const bool was_shown = core->phase != Phase::before;
    const bool was_quiet = left->decoder.is_quiet();
    const auto site_of = [this](std::uint32_t function) { return offset_of(function); };
    if (!was_shown && to.phase == Phase::inside) {
        if (to.feed != nullptr)
            to.feed->show(here.number, left->decoder.open_calls(), left->decoder.gaps(),
                          left->decoder.tracer_depth());
        left->begin_part(to.part_begin);
        left->decoder.suspend(to.part_begin);
        if (tells_feed_only_) left->decoder.be_quiet(site_of);
    } else if (was_shown && to.phase == Phase::before) {
        if (CallFeed::Core* const feed = core_of_feed(to.number, false)) feed->hide(here.number);
        if (!was_quiet) left->decoder.unplace(site_of);
    }
    here.take_over(*left, clock, unseen);
    if (was_quiet) left->decoder.be_quiet(site_of);
}

// A return has no open entry in the running context. If another context of the core has it, the
// record of a switch is missing: recording was stopped, or the ring was full. Its time is unknown,
// so the time since the last record, at `before`, belongs to no context. If the running context has
// the entry on another core, the record of its move is missing.
template <typename Context>
void CallStream<Context>::Core::find_context_of(const protocol::Event& event,
                                                std::uint64_t before) {
    for (const auto& one : contexts) {
        if (one.get() == current || !one->decoder.has_entry_of(event)) continue;
        left_by_return = current->number;
        schedule(TaskEvent::run, event.clock, one->number);
        if (feed != nullptr) {
            feed->enter_unseen(one->number, event.clock,
                               current->decoder.tracer_ticks_at(event.clock, true));
        }
        return enter(*one, before, event.clock);
    }
    if (!can_move(current->number)) return;
    for (const auto& core : stream.cores_) {
        if (!core || core.get() == this) continue;
        const Context* const one = core->known(current->number);
        if (one != nullptr && one->decoder.has_entry_of(event, ReturnOn::another_core))
            return stream.take_over(*this, core->number, event.clock, true);
    }
}

// --- The part

// Of a record that comes now: since the recording's first record.
template <typename Context>
Nanoseconds CallStream<Context>::Core::since_origin(const protocol::StampedRecord& next) const {
    const std::uint64_t now = stream.time_(next.clock - (stream.cuts_ ? tracer_at(next) : 0));
    return not_negative(now - stream.origin_.value_or(0));
}

// The core's clock at `time`, which is not after this record that comes now.
template <typename Context>
std::uint64_t CallStream<Context>::Core::clock_at(Nanoseconds time,
                                                  const protocol::StampedRecord& next) const {
    if (!has_record) return next.clock;
    const std::uint64_t ticks =
        ns_to_ticks(not_negative(since_origin(next) - time), stream.clock_hz_);
    return next.clock - std::min(ticks, not_negative(next.clock - last_clock));
}

template <typename Context>
std::size_t CallStream<Context>::Core::records_before_end(
    std::span<const protocol::StampedRecord> records) const {
    if (phase == Phase::before) return 1;
    if (!stream.filter_.has_end()) return records.size();
    std::size_t count = 1;
    while (count < records.size() && since_origin(records[count]) < stream.filter_.to()) ++count;
    return count;
}

template <typename Context>
void CallStream<Context>::Core::cross(const protocol::StampedRecord& next) {
    PartFilter& part = stream.filter_;
    const Nanoseconds at = since_origin(next);
    part.saw_time(at);
    std::optional<std::uint64_t> begin, end;
    if (phase == Phase::before && stream.zero_clock_) {
        if (static_cast<std::int64_t>(next.clock - *stream.zero_clock_) >= 0)
            begin = *stream.zero_clock_;
    } else if (phase == Phase::before && at >= part.from()) {
        begin = part.has_begin() ? clock_at(part.from(), next) : next.clock;
    }
    if (begin) begin_part(*begin);
    if (phase == Phase::inside && part.has_end() && at >= part.to())
        end = clock_at(part.to(), next);
    if (phase != Phase::before) tell_missing(begin, end);
    if (end) end_part(*end);
}

// Passes the waiting parts on, each clipped to `begin` and `end`.
template <typename Context>
void CallStream<Context>::Core::tell_missing(std::optional<std::uint64_t> begin,
                                             std::optional<std::uint64_t> end) {
    for (MissingPart& one : std::exchange(missing, {})) {
        if (begin && not_negative(one.to - *begin) == 0) continue;
        if (end && not_negative(*end - one.from) == 0) continue;
        if (begin && not_negative(*begin - one.from) != 0) one.from = *begin;
        if (end && not_negative(one.to - *end) != 0) one.to = *end;
        if (tells()) stream.tell_missing(number, one);
        if (feed != nullptr) feed->missing(one);
    }
}

template <typename Context>
void CallStream<Context>::Core::be_quiet() {
    phase = Phase::before;
    for (const auto& one : contexts) {
        one->decoder.be_quiet(
            [this](std::uint32_t function) { return stream.offset_of(function); });
        filter(*one);
        if (one->decoder.is_muted()) one->decoder.hide_open_calls();
    }
}

template <typename Context>
void CallStream<Context>::Core::begin_part(std::uint64_t clock) {
    const auto& first = stream.first_clock_;
    for (const auto& one : contexts) {
        const std::uint64_t its = one->decoder.first_clock();
        if (one->decoder.started() && (!first || not_negative(*first - its) != 0))
            stream.first_clock_ = its;
    }
    bring_to(clock);
    phase = Phase::inside;
    earlier_tracer = tracer_base() + current->decoder.tracer_ticks_at(clock);
    tracer_ticks = 0;
    last_clock = part_begin = clock;
    if (stream.feed_ != nullptr && feed == nullptr) show_open_calls();
    for (const auto& one : contexts) {
        one->left_at = one->counted = one->ran_ticks = 0;
        one->entered = clock;
        one->begin_part(clock);
        if (stream.tells_feed_only_)
            one->decoder.be_quiet([this](auto function) { return stream.offset_of(function); });
        to_feed(*one);
    }
    schedule(TaskEvent::begin, clock, current->number);
}

template <typename Context>
void CallStream<Context>::Core::show_open_calls() {
    feed = stream.core_of_feed(number, false);
    if (feed == nullptr) return;
    feed->begin_part(current->number, last_clock, earlier_tracer);
    for (const auto& one : contexts) {
        const CallStack& calls = one->decoder.open_calls();
        if (one.get() == current || !calls.empty())
            feed->show(one->number, calls, one->decoder.gaps(), one->decoder.tracer_depth());
    }
}

template <typename Context>
void CallStream<Context>::Core::end_part(std::uint64_t clock) {
    phase = Phase::after;
    last_clock = clock;
    current->decoder.end_unwinding(clock);
    if (feed != nullptr) feed->end_part(clock, current->decoder.tracer_ticks_at(clock));
    feed = nullptr;
    for (const auto& one : contexts) {
        one->decoder.feed(nullptr);
        one->part_is_over = true;
    }
    current->decoder.end_part(clock);
}

template <typename Context>
void CallStream<Context>::begin_again(std::optional<std::uint64_t> clock) {
    for (auto& core : cores_) {
        if (!clock || (core && !filter_.wants(core->number))) core.reset();
        if (core) core->be_quiet();
    }
    zero_clock_ = clock;
}

}  // namespace nopscope::host
