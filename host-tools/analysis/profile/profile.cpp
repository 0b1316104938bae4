// SPDX-License-Identifier: Apache-2.0
#include "host-tools/analysis/profile/profile.hpp"

#include <algorithm>

#include "host-tools/analysis/profile/nanoseconds.hpp"
#include "host-tools/image/arch/arch.hpp"

namespace nopscope::host {
Profile::Core::Core(const Core& other, Profile& profile)
    : profile_(profile),
      number(other.number),
      with_data(other.with_data),
      last_clock(other.last_clock),
      part_begin(other.part_begin),
      tracer_ticks(other.tracer_ticks),
      earlier_tracer(other.earlier_tracer),
      runs(other.runs),
      last_context(other.last_context),
      left_by_return(other.left_by_return) {
    for (const auto& context : other.contexts) {
        Context& copy = add(std::make_unique<Context>(*context, profile, *this));
        if (context.get() == other.current) current = &copy;
    }
}

Profile::Profile(const Profile& other) : SessionSink(), ProfileSums(other) {
    for (std::size_t i = 0; i < cores_.size(); ++i) {
        if (other.cores_[i]) cores_[i] = std::make_unique<Core>(*other.cores_[i], *this);
    }
    if (other.before_) before_ = std::make_unique<Profile>(*other.before_);
}

void Profile::on_session(const HelloInfo& hello) {
    if (before_) before_->on_session(hello);
    // The records kept over a warm reset are sent before that boot measures the overhead.
    const bool anew = !hello_ || (!hello_->calibrated && hello.calibrated);
    if (!hello_) hello_ = hello;
    if (anew) {
        hello_->take_overheads(hello);
        measured();
    }
    handed_within_ = handed_of(*hello_).within;
    cuts_ = cuts_tracer_out(hello);
    time_.begin_session(hello.clock_hz, latest_);
    if (groups_.by() == SplitBy::task) {
        for (const auto& core : cores_) {
            if (core) core->begin_anew();
        }
    }
    least_ticks_ = ticks_of_at_least(least_ns_, hello.clock_hz);
    for_each_context([this](Context& context) { context.handed_within = handed_within_; });
}

void Profile::measured() {
    costs_ = CallCosts(*hello_);
    for (std::uint32_t node = 0; node < tree_.nodes().size(); ++node)
        costs_.set(tree_, functions_, node, code_);
    for (DurationsOf& of : durations_) of.corrected = {};
    for_each_context([](Context& context) {
        for (FunctionTimes& of : context.times) of.forget_corrected();
    });
}

std::optional<Profile::Span> Profile::span() const {
    std::optional<Span> all;
    for_each_context([&](const Context& context) {
        const auto& decoder = context.decoder;
        if (!decoder.started()) return;
        const Span one{decoder.first_clock(), decoder.last_clock()};
        if (!all) all = one;
        if (not_negative(all->first - one.first) != 0) all->first = one.first;
        if (not_negative(one.last - all->last) != 0) all->last = one.last;
    });
    return all;
}

void Profile::on_session_end() {
    const std::optional<Span> calls = span();
    // The session may begin before the part that is shown, or before zero().
    const std::optional<Span> before = before_ ? before_->span() : std::nullopt;
    if (before_) {
        for (unsigned number = 0; number < cores_.size(); ++number) {
            const Core* const core = cores_[number] ? nullptr : core_before(number);
            if (core != nullptr) forget_moved(*core);
        }
        before_->on_session_end();
        latest_ = std::max(latest_, before_->latest_);
    }
    std::optional<std::uint64_t> begin = std::exchange(first_clock_, std::nullopt);
    if (!begin && before) begin = before->first;
    if (!begin && calls) begin = calls->first;
    const std::uint64_t first = begin.value_or(0);
    const std::uint64_t last = calls ? calls->last : before ? before->last : first;
    decoder_ = {};
    tracer_ticks_ = 0;
    on_target_.on_session_end(budget_);
    events_on_target_.on_session_end(budget_);
    moved_.on_session_end(first, sessions_);
    state_.on_session_end(begin, sessions_);
    for (const auto& core : cores_) {
        if (core) core->finish();
    }
    scheduling_.on_session_end(sessions_, budget_, [this](std::uint64_t clock) {
        return not_negative(time_(clock) - origin_.value_or(0));
    });
    for_each_context([&](const Context& context) {
        const auto& decoder = context.decoder;
        // Cumulative over sessions.
        decoder_.orphan_returns += decoder.counters().orphan_returns;
        decoder_.too_deep += decoder.counters().too_deep;
        decoder_.unknown_records += decoder.counters().unknown_records;
        tracer_ticks_ += decoder.tracer_ticks();
    });
    if (calls) duration_ticks_ += not_negative(calls->last - calls->first);
    for (; markers_before_ < markers_.size(); ++markers_before_) {
        Marker& marker = markers_[markers_before_];
        marker.ticks = not_negative(marker.ticks - first);
        marker.session = sessions_;
    }
    for (; masked_before_ < masked_.size(); ++masked_before_) {
        Masked& masked = masked_[masked_before_];
        masked.ticks = not_negative(masked.ticks - first);
        masked.session = sessions_;
    }
    for (; missing_before_ < missing_.size(); ++missing_before_) {
        Missing& missing = missing_[missing_before_];
        // Clips the part to the session. Before the first stats frame the part's begin is not
        // known, and the last stats frame may be later than the last record.
        const std::uint64_t length = not_negative(last - first);
        missing.part.from = std::min(not_negative(missing.part.from - first), length);
        missing.part.to = std::min(not_negative(missing.part.to - first), length);
        missing.session = sessions_;
    }
    if (std::exchange(zero_clock_, std::nullopt)) before_.reset();
    ++sessions_;
}

void Profile::on_missing(unsigned core, const MissingPart& whole) {
    MissingPart part = whole;
    if (zero_clock_) {
        if (not_negative(part.to - *zero_clock_) == 0) return;
        if (not_negative(*zero_clock_ - part.from) != 0) part.from = *zero_clock_;
    }
    if (part.dropped != 0 && cores_[core & 0xff])
        cores_[core & 0xff]->on_dropped(part.from, part.dropped);
    if (has_room(missing_.size(), max_missing))
        missing_.push_back({.part = part, .core = core, .session = 0});
}

// A call beyond the shadow stack is not hooked, as one that was dropped.
void Profile::on_stats(unsigned number, const protocol::Stats& stats) {
    state_.on_stats(number, stats);
    const auto& core = cores_[number & 0xff];
    if (!core) return;
    const std::uint64_t before = std::exchange(core->unhooked, stats.shadow_stack_full);
    std::uint64_t from = std::exchange(core->unhooked_at, stats.now);
    if (zero_clock_ && not_negative(*zero_clock_ - from) != 0) from = *zero_clock_;
    if (stats.shadow_stack_full > before) core->on_dropped(from, stats.shadow_stack_full - before);
}

void Profile::begin_axis(std::uint64_t clock) {
    const std::uint64_t now = time_(clock);
    if (!origin_) origin_ = now;
}

void Profile::on_trace(unsigned number, const TraceBatch& batch) {
    if (!time_.started() && !batch.records.empty()) begin_axis(batch.records.front().clock);
    auto& slot = cores_[number & 0xff];
    if (!slot) {
        if (before_) return trace_before(number, batch);
        slot = std::make_unique<Core>(*this, number & 0xff);
    }
    if (batch.gap) {
        slot->on_gap();
        slot->enter(slot->context(batch.context), batch.base, batch.base);
        slot->schedule(Scheduling::Kind::run, batch.base, batch.context);
    }
    slot->on_records(batch.records, batch.first_index);
}

void Profile::Core::on_records(std::span<const protocol::StampedRecord> records,
                               std::uint64_t index) {
    while (!records.empty()) {
        const std::size_t taken = current->decoder.take_plain(records, index);
        if (taken != 0) last_clock = records[taken - 1].clock;
        index += taken;
        records = records.subspan(taken);
        if (records.empty()) return;
        on_event(protocol::event_of(records.front(), index++));
        records = records.subspan(1);
    }
}

constexpr std::size_t max_contexts = 65'536;  // more count as the core's last one

Profile::Context& Profile::Core::context(std::uint32_t wanted) {
    if (Context* const one = known(wanted)) return *one;
    // Outside data may name any number; a firmware has few. Each core always gets one.
    const bool is_first = contexts.empty();
    const bool has_room =
        profile_.context_count_ < max_contexts && profile_.budget_.take(price::context);
    if (!has_room && !is_first) return *contexts.back();
    return add(std::make_unique<Context>(profile_, *this, wanted));
}

Profile::Context& Profile::Core::add(std::unique_ptr<Context> one) {
    ++profile_.context_count_;
    by_number.emplace(one->number, one.get());
    return *contexts.emplace_back(std::move(one));
}

void Profile::Core::begin_anew() {
    by_number.clear();
    current = &context(0);
}

void Profile::Core::enter(Context& to, std::uint64_t left, std::uint64_t entered) {
    if (&to == current) return;
    const bool ran = runs;
    stop_running(left);
    runs = ran;
    to.entered = entered;
    current->decoder.suspend(left);
    tracer_ticks += current->decoder.tracer_ticks_so_far() - current->counted;
    current->counted = current->decoder.tracer_ticks_so_far();
    current->left_at = tracer_ticks;
    to.decoder.resume(entered, tracer_ticks - to.left_at);
    current = &to;
}

void Profile::Core::stop_running(std::uint64_t clock) {
    if (runs) current->ran_ticks += not_negative(clock - current->entered);
    runs = false;
}

void Profile::Core::bring_to(std::uint64_t clock) {
    Context* const last = current;
    for (const auto& one : contexts) enter(*one, clock, clock);
    enter(*last, clock, clock);
}

void Profile::Core::on_event(const protocol::Event& event) {
    if (!std::exchange(runs, true)) current->entered = event.clock;
    const std::uint64_t before = std::exchange(last_clock, event.clock);
    if (event.kind == protocol::Kind::extended && event.extended == protocol::Extended::context) {
        Context& next = context(event.argument);
        const std::uint32_t left = std::exchange(left_by_return, protocol::several_contexts);
        const bool is_late = &next == current && left != protocol::several_contexts;
        last_context = is_late ? left : current->number;
        enter(next, event.clock, event.clock);
        return schedule(Scheduling::Kind::run, event.clock, event.argument);
    }
    if (event.kind == protocol::Kind::ret && contexts.size() > 1 &&
        !current->decoder.has_entry_of(event)) {
        find_context_of(event, before);
    }
    current->decoder.on_event(event);
    if (event.kind == protocol::Kind::ret) current->pass_events_on();
    if (with_data.take(event)) on_data();
    if (event.kind != protocol::Kind::extended) return;
    if (event.extended == protocol::Extended::task &&
        protocol::task_fact(event.argument) == protocol::TaskFact::left) {
        const std::uint32_t left = std::exchange(last_context, protocol::several_contexts);
        const protocol::Left how = protocol::how_left(event.argument);
        schedule(Scheduling::Kind::left, event.clock, static_cast<std::uint64_t>(how));
        return profile_.tasks_.on_left(profile_.sessions_, number, left, how, profile_.budget_);
    }
    if (event.extended != protocol::Extended::marker) return;
    if (!profile_.has_room(profile_.markers_.size(), max_markers)) return;
    const OpenCall* const call = current->decoder.innermost();
    profile_.markers_.push_back(
        {.ticks = event.clock,
         .id = event.argument,
         .function = call != nullptr ? call->path.function : Marker::in_nothing,
         .core = number,
         .context = current->number});
}

unsigned Profile::address_unit() const { return arch_of(hello_->architecture).least_bytes; }

void Profile::Core::on_data() {
    switch (const protocol::Event& head = with_data.head(); head.extended) {
    case protocol::Extended::sample:
        return profile_.samples_.add(with_data, profile_.address_unit(), profile_.budget_);
    case protocol::Extended::events: return current->take_events(with_data);
    case protocol::Extended::task: return on_task_fact();
    case protocol::Extended::masked:
        if (!profile_.has_room(profile_.masked_.size(), max_masked)) return;
        return profile_.masked_.push_back(
            {.ticks = head.clock,
             .length = with_data.data()[1],
             .where = protocol::sampled_offset(with_data.data()[0], profile_.address_unit()),
             .core = number});
    default:
        profile_.left_out_ += profile_.captured_.add(with_data, profile_.functions_,
                                                     profile_.sessions_, profile_.budget_);
    }
}

void Profile::Core::on_task_fact() {
    const protocol::Event& head = with_data.head();
    const protocol::TaskFact fact = protocol::task_fact(head.argument);
    const std::uint64_t data = with_data.data()[0];
    if (fact == protocol::TaskFact::moved)
        return profile_.take_over(*this, protocol::moved_from(data), head.clock, false);
    if (fact == protocol::TaskFact::ready) schedule(Scheduling::Kind::ready, head.clock, data);
    if (fact == protocol::TaskFact::waits) schedule(Scheduling::Kind::waits, head.clock, data);
    profile_.tasks_.on_record(profile_.sessions_, number, fact, data, profile_.budget_);
}

void Profile::Core::on_gap() {
    last_context = left_by_return = protocol::several_contexts;
    schedule(Scheduling::Kind::gap, last_clock);
    stop_running(last_clock);
    for (const auto& one : contexts) one->decoder.on_gap();
}

// Records were dropped at unknown times after `from`. So each call that was open since then may
// have made the dropped calls, and have their time in its self time.
void Profile::Core::on_dropped(std::uint64_t from, std::uint64_t count) {
    for (const auto& one : contexts) {
        const auto& decoder = one->decoder;
        if (!decoder.started()) continue;
        const Ticks since = decoder.time_at(from);
        std::vector<bool> touched(one->times.size());
        for (std::size_t i = 0; i < touched.size(); ++i) {
            const Ticks end = one->times[i].last_end;
            touched[i] = end != 0 && (end == since || not_negative(end - since) != 0);
        }
        decoder.open_calls().for_each_call(
            [&](const OpenCall& call) { touched[call.path.function] = true; });
        for (std::size_t i = 0; i < touched.size(); ++i) {
            if (touched[i]) one->times[i].dropped += count;
        }
    }
}

// Open calls of a context end with the session, not when the context last ran.
void Profile::Core::finish() {
    last_context = left_by_return = protocol::several_contexts;
    unhooked = unhooked_at = 0;
    stop_running(last_clock);
    bring_to(last_clock);
    const auto axis_ns = [this](std::uint64_t clock) { return profile_.time_(clock); };
    if (profile_.origin_) {
        const std::uint64_t end = axis_ns(last_clock - (profile_.cuts_ ? tracer_so_far() : 0));
        profile_.latest_ = std::max(profile_.latest_, end);
    }
    for (const auto& one : contexts) {
        one->decoder.finish();
        one->event_children.forget();
        one->left_out = {};
        ContextTimes times = one->take_times();
        times.core = number;
        const bool any = (times.ran_ticks | times.self_ticks | times.tracer_ticks) != 0;
        // Not charged to the budget: it may be all that is known about its core.
        if (any && profile_.contexts_.size() < max_context_times)
            profile_.contexts_.push_back(times);
        for (FunctionTimes& of : one->times) {
            of.last_end = 0;
            if (!std::exchange(of.max_is_new, false)) continue;
            of.max_end = not_negative(axis_ns(of.max_end) - profile_.origin_.value_or(0));
            of.max_core = number;
            of.max_context = one->number;
        }
    }
    current = contexts.front().get();
    earlier_tracer = 0;
    earlier_tracer -= tracer_so_far();
}

bool Profile::Context::make_room(std::uint32_t function) {
    if (is_full) return false;
    if (function >= times.capacity()) {
        const std::size_t wanted =
            std::max<std::size_t>(function + 1, times.capacity() + times.capacity() / 2);
        // While it grows, memory has the old elements, too.
        const std::uint64_t bytes = sizeof(FunctionTimes) * (wanted - times.capacity());
        is_full = profile_.budget_.left() < bytes + sizeof(FunctionTimes) * wanted ||
                  !profile_.budget_.take(bytes);
        if (is_full) return false;
        times.reserve(wanted);
    }
    times.resize(known = function + 1);
    return true;
}

ContextTimes Profile::Context::take_times() {
    Ticks self = 0;
    for (const FunctionTimes& of : times) self += of.self_ticks;
    return {.session = profile_.sessions_,
            .core = 0,
            .context = number,
            .ran_ticks = std::exchange(ran_ticks, 0),
            .self_ticks = self - std::exchange(self_before, self),
            .tracer_ticks =
                decoder.tracer_ticks() - std::exchange(tracer_before, decoder.tracer_ticks())};
}

bool Profile::Context::leaves_out(const OpenCall& call, Ticks ticks, Outcome outcome) {
    if (!leaves_out_short) return false;
    const std::size_t depth = decoder.depth();  // of the caller
    std::uint64_t instructions = left_out.take(depth + 1, call.index);
    CallTree::Node& node = profile_.tree_[call.path.node];
    const CallCosts& costs = profile_.costs_;
    const bool is_call = !is_interrupt(profile_.functions_.offset(node.function));
    const bool has_hook = outcome != Outcome::unwound || !is_call;
    const std::uint64_t overhead =
        taken - call.taken_before +
        static_cast<std::uint64_t>(node.inside - (has_hook ? 0 : costs.hook_inside));
    if (!profile_.is_short(ticks - call.away, overhead)) {
        node.beside += instructions;
        return false;
    }
    if (call.gaps_before != OpenCall::before_part) {
        --times[call.path.function].calls;
        --node.calls;
    }
    if (is_call) {
        const PathLengths& paths = costs.paths;
        instructions += paths.graph + (node.tail == Tail::always ? paths.tail : 0) -
                        (has_hook ? 0 : paths.hook_before_clock + paths.hook_after_clock);
        taken += static_cast<std::uint64_t>(
            node.inside + node.outside - (has_hook ? 0 : costs.hook_inside + costs.hook_outside));
    }
    left_out.add(depth, decoder.top().index, instructions);
    left_out.last = call.index;
    return true;
}

bool Profile::Context::leaves_out_complete(Ticks timed) {
    if (!leaves_out_short) return false;
    const protocol::Overhead& each = profile_.costs_.duration;
    if (!profile_.is_short(timed, static_cast<std::uint64_t>(std::int64_t{each.inside})))
        return false;
    leave_out(std::int64_t{each.inside} + each.outside);
    return true;
}

void Profile::Context::leave_out(std::int64_t overhead) {
    taken += static_cast<std::uint64_t>(overhead);
    left_out.add(decoder.depth(), decoder.top().index, profile_.costs_.instructions_of(overhead));
}

void Profile::Context::on_complete_call(std::uint32_t offset, Ticks ticks,
                                        const Durations::Inside& inside) {
    std::uint32_t function = profile_.functions_.number(offset, profile_.budget_);
    if (function >= known && !make_room(function)) function = FunctionTable::none;
    FunctionTimes& of = times[function];
    ++of.calls;
    of.total_ticks += not_negative(ticks - inside.same_ticks);
    of.self_ticks += not_negative(ticks - inside.ticks);
    const protocol::Overhead& each = profile_.costs_.duration;
    const std::uint64_t both = static_cast<std::uint64_t>(std::int64_t{each.inside} + each.outside);
    const Ticks timed = not_negative(ticks - inside.away_ticks);
    const auto corrected =
        static_cast<std::int64_t>(timed * protocol::overhead_unit - inside.calls * both -
                                  static_cast<std::uint64_t>(std::int64_t{each.inside}));
    taken += both;
    of.last_end = decoder.time();
    if (of.time(timed, corrected)) of.max_end = core_.axis_clock(of.last_end);
    if (counts_durations) [[unlikely]]
        profile_.add_duration(function, timed, corrected);
}

std::uint32_t Profile::Context::on_path(std::uint32_t parent, std::uint32_t offset,
                                        const Durations::Sum& sum) {
    const Path path = profile_.paths_.find(parent, offset);
    // The call may have ended on a core that the context ran on before.
    const bool has_room = path.function < known || make_room(path.function);
    const std::uint32_t node = has_room ? path.node : paths().overflow;
    CallTree::Node& to = profile_.tree_[node];
    to.calls += sum.calls;
    to.whole += sum.calls;
    to.total_ticks += sum.total_ticks;
    to.self_ticks += sum.self_ticks;
    return node;
}

void Profile::Context::take_events(const WithData& record) {
    const OpenCall* const call = decoder.just_closed();
    if (call == nullptr) return;  // its return is in a gap
    if (left_out.last == call->index) return;
    const std::size_t depth = decoder.depth();
    profile_.left_out_ += profile_.call_events_.add(record, call->path.node,
                                                    event_children.of(depth + 1, call->index),
                                                    !decoder.has_gap(*call), profile_.budget_);
    event_children.add(depth, decoder.top().index, counts_of(record));
}

void Profile::Context::pass_events_on() {
    const OpenCall* const call = decoder.just_closed();
    if (call == nullptr || !is_interrupt(profile_.functions_.offset(call->path.function))) return;
    event_children.add(decoder.depth(), decoder.top().index,
                       event_children.of(decoder.depth() + 1, call->index));
}

namespace {

void add(FunctionTimes& to, const FunctionTimes& from) {
    to.calls += from.calls;
    to.total_ticks += from.total_ticks;
    to.self_ticks += from.self_ticks;
    to.timed += from.timed;
    to.open += from.open;
    to.lost += from.lost;
    to.unwound += from.unwound;
    to.incomplete += from.incomplete;
    to.cut += from.cut;
    if (from.min_ticks < to.min_ticks) to.min_ticks = from.min_ticks;
    if (from.max_ticks > to.max_ticks) {
        to.max_ticks = from.max_ticks;
        to.max_end = from.max_end;
        to.max_core = from.max_core;
        to.max_context = from.max_context;
    }
    to.timed_ticks += from.timed_ticks;
    to.corrected_sum = static_cast<std::int64_t>(static_cast<std::uint64_t>(to.corrected_sum) +
                                                 static_cast<std::uint64_t>(from.corrected_sum));
    to.corrected_min = std::min(to.corrected_min, from.corrected_min);
    to.corrected_max = std::max(to.corrected_max, from.corrected_max);
    to.uncorrected += from.uncorrected;
    to.dropped += from.dropped;
}

}  // namespace

std::vector<FunctionTimes> Profile::times() const {
    std::vector<FunctionTimes> sum(functions_.size());
    for_each_context([&](const Context& context) {
        for (std::size_t i = 0; i < context.times.size(); ++i) add(sum[i], context.times[i]);
    });
    return sum;
}

std::vector<std::vector<FunctionTimes>> Profile::times_by_group() const {
    std::vector<std::vector<FunctionTimes>> sums(tree_.groups().size());
    for_each_context([&](const Context& context) {
        std::vector<FunctionTimes>& of = sums[context.group];
        if (of.size() < context.times.size()) of.resize(context.times.size());
        for (std::size_t i = 0; i < context.times.size(); ++i) add(of[i], context.times[i]);
    });
    return sums;
}

std::uint64_t Profile::self_ticks_of(unsigned number, const std::vector<bool>& left_out) const {
    std::uint64_t sum = 0;
    const auto& core = cores_[number & 0xff];
    if (!core) return sum;
    for (const auto& context : core->contexts) {
        for (std::size_t i = 0; i < context->times.size(); ++i) {
            if (i >= left_out.size() || !left_out[i]) sum += context->times[i].self_ticks;
        }
    }
    return sum;
}

std::uint32_t Profile::context_of(unsigned number) const {
    const auto& core = cores_[number & 0xff];
    const Core* const known = core ? core.get() : core_before(number & 0xff);
    return known != nullptr ? known->current->number : 0;
}

}  // namespace nopscope::host
