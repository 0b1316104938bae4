// SPDX-License-Identifier: Apache-2.0
#include "host-tools/figures/profile/profile.hpp"

#include <algorithm>

#include "host-tools/calls/nanoseconds.hpp"
#include "host-tools/image/arch/arch.hpp"

namespace nopscope::host {

ProfileContext::ProfileContext(Profile& profile, const Core& core, std::uint32_t its_number)
    : StreamedContext(its_number),
      group(profile.group_of(core.number, its_number)),
      counts_durations(profile.counts_durations_),
      leaves_out_short(profile.least_ns_ != 0),
      on_cpu(profile.on_cpu_),
      handed_within(profile.handed_within_),
      profile_(profile),
      core_(core),
      times(1),
      known(1),
      decoder(*this, profile.tree_.groups()[group].root) {}

ProfileContext::ProfileContext(const ProfileContext& other, Profile& profile, const Core& core)
    : StreamedContext(other),
      group(other.group),
      counts_durations(other.counts_durations),
      leaves_out_short(other.leaves_out_short),
      on_cpu(other.on_cpu),
      handed_within(other.handed_within),
      last_end(other.last_end),
      last_node(other.last_node),
      taken(other.taken),
      profile_(profile),
      core_(core),
      times(other.times),
      known(other.known),
      is_full(other.is_full),
      part_is_over(other.part_is_over),
      decoder(other.decoder, *this),
      event_children(other.event_children),
      left_out(other.left_out),
      self_before(other.self_before),
      tracer_before(other.tracer_before) {}

void ProfileContext::begin_part(std::uint64_t clock) {
    group = profile_.group_of(core_.number, number);
    last_end = last_node = 0;
    taken = self_before = tracer_before = 0;
    times.assign(1, {});
    known = 1;
    is_full = false;
    event_children.forget();
    left_out = {};
    decoder.begin_part(clock, paths().root, [this](std::uint32_t parent, const Path& path) {
        return place(parent, path.function);
    });
}

bool ProfileContext::is_selected(std::uint32_t offset) {
    return profile_.filter_.wants_site(offset);
}

Profile::Profile(const Profile& other) : CallStream(other), ProfileSums(other) {
    unhooked_ = other.unhooked_;
    copy_cores(other);
}

void Profile::on_session(const HelloInfo& hello) {
    begin_session(hello);
    // The records kept over a warm reset are sent before that boot measures the overhead.
    const bool anew = !hello_ || (!hello_->calibrated && hello.calibrated);
    if (!hello_) hello_ = hello;
    if (anew) {
        hello_->take_overheads(hello);
        measured();
    }
    handed_within_ = handed_of(*hello_).within;
    if (groups_.by() == SplitBy::task) {
        for (const auto& core : cores_) {
            if (core) core->begin_anew();
        }
    }
    least_ticks_ = ticks_of_at_least(least_ns_, hello.clock_hz);
    for_each_context([this](ProfileContext& context) { context.handed_within = handed_within_; });
}

void Profile::measured() {
    costs_ = CallCosts(*hello_);
    for (std::uint32_t node = 0; node < tree_.nodes().size(); ++node)
        costs_.set(tree_, functions_, node, code_);
    for (DurationsOf& of : durations_) of.corrected = {};
    for_each_context([](ProfileContext& context) {
        for (FunctionTimes& of : context.times) of.forget_corrected();
    });
}

void Profile::on_session_end() {
    const std::optional<Span> calls = span();
    // The session may begin before the part that is shown, or before zero().
    const std::optional<Span> all = span(true);
    std::optional<std::uint64_t> begin = first_clock_;
    if (all && (!begin || not_negative(*begin - all->first) != 0)) begin = all->first;
    const std::uint64_t first = begin.value_or(0);
    const std::uint64_t last = calls ? calls->last : all ? all->last : first;
    decoder_ = {};
    tracer_ticks_ = 0;
    on_target_.on_session_end(budget_);
    events_on_target_.on_session_end(budget_);
    moved_.on_session_end(first, sessions_);
    state_.on_session_end(begin, sessions_);
    const std::uint64_t session = sessions_;
    end_session();
    scheduling_.on_session_end(session, budget_, [this](std::uint64_t clock) {
        return not_negative(time_(clock) - origin_.value_or(0));
    });
    for_each_context([&](const ProfileContext& context) {
        const auto& decoder = context.decoder;
        if (decoder.is_quiet()) return;
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
        marker.session = session;
    }
    for (; masked_before_ < masked_.size(); ++masked_before_) {
        Masked& masked = masked_[masked_before_];
        masked.ticks = not_negative(masked.ticks - first);
        masked.session = session;
    }
    for (; missing_before_ < missing_.size(); ++missing_before_) {
        Missing& missing = missing_[missing_before_];
        // Clips the part to the session. Before the first stats frame the part's begin is not
        // known, and the last stats frame may be later than the last record.
        const std::uint64_t length = not_negative(last - first);
        missing.part.from = std::min(not_negative(missing.part.from - first), length);
        missing.part.to = std::min(not_negative(missing.part.to - first), length);
        missing.session = session;
    }
    unhooked_ = {};
}

void Profile::tell_missing(unsigned core, const MissingPart& part) {
    if (part.dropped != 0) on_dropped(core, part.from, part.dropped);
    if (has_room(missing_.size(), max_missing))
        missing_.push_back({.part = part, .core = core, .session = 0});
}

// A call beyond the shadow stack is not hooked, as one that was dropped.
void Profile::on_stats(unsigned core, const protocol::Stats& stats) {
    if (!part().wants(core)) return;
    state_.on_stats(core, stats);
    if (!cores_[core & 0xff]) return;
    Unhooked& unhooked = unhooked_[core & 0xff];
    const std::uint64_t before = std::exchange(unhooked.calls, stats.shadow_stack_full);
    std::uint64_t from = std::exchange(unhooked.at, stats.now);
    if (zero_clock_ && not_negative(*zero_clock_ - from) != 0) from = *zero_clock_;
    if (stats.shadow_stack_full > before) on_dropped(core, from, stats.shadow_stack_full - before);
}

void Profile::on_marker(const Core& core, const protocol::Event& event) {
    if (!has_room(markers_.size(), max_markers)) return;
    const OpenCall* const call = core.current->decoder.innermost();
    markers_.push_back({.ticks = event.clock,
                        .id = event.argument,
                        .function = call != nullptr ? call->path.function : Marker::in_nothing,
                        .core = core.number,
                        .context = core.current->number});
}

unsigned Profile::address_unit() const { return arch_of(hello_->architecture).least_bytes; }

void Profile::on_record(Core& core, const WithData& record) {
    switch (const protocol::Event& head = record.head(); head.extended) {
    case protocol::Extended::sample: return samples_.add(record, address_unit(), budget_);
    case protocol::Extended::events: return core.current->take_events(record);
    case protocol::Extended::task:
        return tasks_.on_record(sessions_, core.number, protocol::task_fact(head.argument),
                                record.data()[0], budget_);
    case protocol::Extended::masked:
        if (!has_room(masked_.size(), max_masked)) return;
        return masked_.push_back(
            {.ticks = head.clock,
             .length = record.data()[1],
             .where = protocol::sampled_offset(record.data()[0], address_unit()),
             .core = core.number});
    default: left_out_ += captured_.add(record, functions_, sessions_, budget_);
    }
}

// Records were dropped at unknown times after `from`. So each call that was open since then may
// have made the dropped calls, and have their time in its self time.
void Profile::on_dropped(unsigned core, std::uint64_t from, std::uint64_t count) {
    if (!cores_[core & 0xff]) return;
    for (const auto& one : cores_[core & 0xff]->contexts) {
        const auto& decoder = one->decoder;
        if (!decoder.started() || decoder.is_quiet()) continue;
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

void Profile::on_core_end(Core& core) {
    for (const auto& one : core.contexts) {
        one->event_children.forget();
        one->left_out = {};
        ContextTimes times = one->take_times();
        times.core = core.number;
        const bool any = (times.ran_ticks | times.self_ticks | times.tracer_ticks) != 0;
        // Not charged to the budget: it may be all that is known about its core.
        if (any && contexts_.size() < max_context_times) contexts_.push_back(times);
        for (FunctionTimes& of : one->times) {
            of.last_end = 0;
            if (!std::exchange(of.max_is_new, false)) continue;
            of.max_end = not_negative(time_(of.max_end) - origin_.value_or(0));
            of.max_core = core.number;
            of.max_context = one->number;
        }
    }
}

bool ProfileContext::make_room(std::uint32_t function) {
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

ContextTimes ProfileContext::take_times() {
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

bool ProfileContext::leaves_out(const OpenCall& call, Ticks ticks, Outcome outcome) {
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

bool ProfileContext::leaves_out_complete(Ticks timed) {
    if (!leaves_out_short) return false;
    const protocol::Overhead& each = profile_.costs_.duration;
    if (!profile_.is_short(timed, static_cast<std::uint64_t>(std::int64_t{each.inside})))
        return false;
    leave_out(std::int64_t{each.inside} + each.outside);
    return true;
}

void ProfileContext::leave_out(std::int64_t overhead) {
    taken += static_cast<std::uint64_t>(overhead);
    left_out.add(decoder.depth(), decoder.top().index, profile_.costs_.instructions_of(overhead));
}

void ProfileContext::on_complete_call(std::uint32_t offset, Ticks ticks,
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

std::uint32_t ProfileContext::on_path(std::uint32_t parent, std::uint32_t offset,
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

void ProfileContext::take_events(const WithData& record) {
    const OpenCall* const call = decoder.just_closed();
    if (call == nullptr) return;  // its return is in a gap
    if (left_out.last == call->index) return;
    const std::size_t depth = decoder.depth();
    profile_.left_out_ += profile_.call_events_.add(record, call->path.node,
                                                    event_children.of(depth + 1, call->index),
                                                    !decoder.has_gap(*call), profile_.budget_);
    event_children.add(depth, decoder.top().index, counts_of(record));
}

void ProfileContext::pass_events_on() {
    const OpenCall* const call = decoder.is_quiet() ? nullptr : decoder.just_closed();
    if (call == nullptr || !call->is_shown() ||
        !is_interrupt(profile_.functions_.offset(call->path.function)))
        return;
    event_children.add(decoder.depth(), decoder.top().index,
                       event_children.of(decoder.depth() + 1, call->index));
}

// The open calls' times count where they passed, except min, mean, max and durations: a whole
// call's time counts where it ends.
void ProfileContext::take_over(ProfileContext& from, std::uint64_t clock, bool unseen) {
    if (decoder.is_quiet()) {
        const auto nothing = [](OpenCall&, Ticks, Ticks) {};
        return decoder.take_over(from.decoder, from.core_.number, clock, unseen, nothing);
    }
    std::vector<Ticks> times_so_far;  // of the open calls, the innermost first
    decoder.take_over(from.decoder, from.core_.number, clock, unseen,
                      [&](OpenCall& call, Ticks self, Ticks so_far) {
                          FunctionTimes& of = from.times[call.path.function];
                          CallTree::Node& node = profile_.tree_[call.path.node];
                          of.self_ticks += self;
                          of.last_end = from.decoder.time();
                          node.self_ticks += self;
                          node.total_ticks += so_far;
                          const std::uint64_t inside =
                              of.total_ticks - call.total_before;  // that has ended
                          if (so_far != 0) of.total_ticks = call.total_before + so_far;
                          if (call.path.function >= known && !make_room(call.path.function))
                              call.path = {FunctionTable::none, paths().overflow};
                          call.total_before = times[call.path.function].total_ticks -
                                              (so_far != 0 ? so_far : inside);
                          call.taken_before += taken - from.taken;
                          times_so_far.push_back(so_far);
                      });
    if (group != from.group) {
        decoder.place_again([&](std::uint32_t parent, const Path& path) {
            return path.function == FunctionTable::none
                       ? Path{FunctionTable::none, paths().overflow}
                       : place(parent, profile_.functions_.offset(path.function));
        });
    }
    // Modulo 2^64 until the call ends, which adds all of its time.
    decoder.open_calls().for_each_call([&](const OpenCall& call) {
        if (times_so_far.empty()) return;
        profile_.tree_[call.path.node].total_ticks -= times_so_far.back();
        times_so_far.pop_back();
    });
    event_children = std::exchange(from.event_children, {});
    event_children.move(decoder.open_calls());
    left_out = std::exchange(from.left_out, {});
    left_out.move(decoder.open_calls());
}

namespace {

using MaybeClock = std::optional<std::uint64_t>;
MaybeClock later(MaybeClock a, MaybeClock b) {
    if (!a || !b) return a ? a : b;
    return not_negative(*b - *a) != 0 ? b : a;
}

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

// The sums of a profile that knows the target as this one does, and has counted nothing.
ProfileSums Profile::sums_at_zero() const {
    ProfileSums sums;
    static_cast<ProfileFacts&>(sums) = *this;
    sums.budget_ = whole_budget_;
    if (counts_durations_) sums.functions_.set_price(price::function + sizeof(DurationsOf));
    sums.on_target_ = on_target_;
    sums.on_target_.zero(sums.budget_);
    sums.events_on_target_ = events_on_target_;
    sums.events_on_target_.zero(sums.budget_);
    sums.tasks_ = tasks_;
    sums.tasks_.zero(sums.budget_);
    sums.state_ = state_;
    sums.state_.zero();
    return sums;
}

void Profile::zero(std::optional<std::uint64_t> at) {
    const std::optional<Span> calls = span(true);
    std::optional<std::uint64_t> begin = later(zero_clock_, at);
    if (calls) begin = later(begin, calls->last + 1);
    if (!first_clock_ && calls) first_clock_ = calls->first;
    begin_again(begin);
    static_cast<ProfileSums&>(*this) = sums_at_zero();
    paths_.forget();
}

std::vector<FunctionTimes> Profile::times() const {
    std::vector<FunctionTimes> sum(functions_.size());
    for_each_context([&](const ProfileContext& context) {
        for (std::size_t i = 0; i < context.times.size(); ++i) add(sum[i], context.times[i]);
    });
    return sum;
}

std::vector<std::vector<FunctionTimes>> Profile::times_by_group() const {
    std::vector<std::vector<FunctionTimes>> sums(tree_.groups().size());
    for_each_context([&](const ProfileContext& context) {
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
    return core ? core->current->number : 0;
}

template class CallDecoder<ProfileContext>;
template class CallStream<ProfileContext>;

}  // namespace nopscope::host
