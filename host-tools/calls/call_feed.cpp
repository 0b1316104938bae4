// SPDX-License-Identifier: Apache-2.0
#include "host-tools/calls/call_feed.hpp"

#include <algorithm>
#include <iterator>

#include "host-tools/base/error.hpp"
#include "host-tools/calls/with_data.hpp"
#include "host-tools/image/arch/arch.hpp"
#include "host-tools/line/stream/same_image.hpp"

namespace nopscope::host {

CallFeed::CallFeed(EventSink& sink, std::function<const Symbols*()> symbols, std::string origin,
                   std::optional<TimeAxis> axis)
    : sink_(sink), symbols_(std::move(symbols)), origin_(std::move(origin)), axis_(axis) {}

Result<> CallFeed::on_session(const HelloInfo& hello) {
    if (const Symbols* const symbols = symbols_()) {
        if (const auto sentence = mismatch(*symbols, hello))
            return failure(origin_ + ": " + *sentence);
    }
    cuts_ = axis_ ? axis_ == TimeAxis::without_tracer : cuts_tracer_out(hello);
    sink_.on_target(hello);
    sink_.on_axis(cuts_ ? TimeAxis::without_tracer : TimeAxis::wall);
    Nanoseconds latest = 0;
    ++sessions_;
    for (const auto& core : cores_) {
        if (!core) continue;
        latest = std::max(latest, core->now_);
        if (core->is_over_) continue;
        core->forget_other_tasks();
        core->run(*core->tracks_.front());
    }
    time_.begin_session(hello.clock_hz, latest);
    base_ = hello.text_base - hello.load_bias;
    architecture_ = hello.architecture;
    site_count_ = hello.site_count;
    clock_pair_.reset();
    first_clock_ = last_clock_ = 0;
    return {};
}

void CallFeed::on_session_end() {
    for (const auto& core : cores_) {
        if (core) core->settle();
    }
    tell_absences(~std::uint64_t{0});
    for (const auto& core : cores_) {
        if (!core) continue;
        core->end_tracks(Left::open);
        core->end_running();
        core->after_return_ = Core::no_record;
        core->cut_ = 0;
        core->stops_.restart(0);
    }
}

Result<CallFeed::Core*> CallFeed::core(unsigned number, bool announces) {
    auto& slot = cores_[number & 0xff];
    if (!slot) {
        if (++core_count_ > 1 && axis_ == TimeAxis::without_tracer) {
            return failure(
                "--cut-tracer: " + origin_ +
                    " has several cores, which have no common axis without the tracer's time",
                Exit::usage);
        }
        slot = std::make_unique<Core>(*this, number & 0xff);
        slot->current_ = &slot->track(0, true, announces);
    }
    return slot.get();
}

void CallFeed::begin_axis(std::uint64_t clock) {
    first_clock_ = clock;
    const Nanoseconds origin = time_(clock);
    if (!std::exchange(has_origin_, true)) sink_.on_origin(origin);
}

void CallFeed::on_records(std::uint64_t first, std::uint64_t last) {
    if (!time_.started()) begin_axis(first);
    last_clock_ = std::max(last_clock_, first);
    tell_absences(last_clock_);
    last_clock_ = std::max(last_clock_, last);
}

// Some missing parts come from stats, whose clock may lie outside of the session's records.
void CallFeed::tell_absences(std::uint64_t reached) {
    std::erase_if(absences_, [&](const Missing& missing) {
        if (missing.part.to > reached) return false;
        missing.core->tell(missing.part);
        return true;
    });
}

void CallFeed::on_console(std::string_view text) {
    sink_.console(text, cores_[0] ? cores_[0]->now_ : 0);
}

// A pair before the session's first record waits for that record, which must begin the axis.
void CallFeed::on_clock_pair(const ClockPair& pair) {
    if (cuts_) return;
    clock_pair_ = pair;
    if (time_.started()) tell_clock_pair();
}

void CallFeed::tell_clock_pair() {
    if (!clock_pair_) return;
    sink_.time_pair({.time = time_(clock_pair_->clock),
                     .utc_ns = clock_pair_->utc_ns,
                     .error_ns = clock_pair_->error_ns,
                     .exchanged = clock_pair_->exchanged});
    clock_pair_.reset();
}

void CallFeed::introduce_site(std::uint32_t number, std::uint32_t offset) {
    if (number == FunctionTable::none) {
        if (std::exchange(introduced_none_, true)) return;
        return sink_.on_function(number, {.name = others_name, .file = {}});
    }
    introduced_ = number + 1;
    if (is_interrupt(offset)) return sink_.on_function(number, interrupt_place(offset));
    const std::uint64_t address = base_ + offset;
    const Symbols* const symbols = symbols_();
    const Function* const function = symbols != nullptr ? symbols->find(address) : nullptr;
    ++functions_introduced_;
    unknown_sites_ +=
        symbols != nullptr ? function == nullptr : functions_introduced_ > site_count_;
    sink_.on_function(number, place_of(address, function));
}

void CallFeed::introduce_own(std::uint32_t function) {
    if ((own_introduced_ & 1u << (function - first_own_function)) != 0) return;
    own_introduced_ |= 1u << (function - first_own_function);
    sink_.on_function(
        function,
        {.name = function == tracer_function ? "(tracer)" : "(other context)", .file = {}});
}

void CallFeed::introduce(OneTrack& of) {
    if (std::exchange(of.introduced, true)) return;
    of.track.number = tracks_++;
    sink_.on_track(of.track);
}

std::uint32_t CallFeed::sampled(std::uint64_t data, bool is_return) {
    const std::int64_t offset = protocol::sampled_offset(data, arch_of(architecture_).least_bytes);
    const std::uint64_t address = base_ + static_cast<std::uint64_t>(offset);
    const Symbols* const symbols = symbols_();
    // The call is before its return address, which may be the first of another function.
    const Function* const known =
        symbols != nullptr ? symbols->around(is_return ? address - 1 : address) : nullptr;
    const std::uint64_t begin = known != nullptr ? known->address : address;
    const std::uint64_t from_base = begin - base_;
    if (symbols != nullptr && from_base <= ~0u && (from_base & 7) == 0 &&
        symbols->find(begin) != nullptr) {
        return site(static_cast<std::uint32_t>(from_base));
    }
    const auto number = first_sampled_function + static_cast<std::uint32_t>(sampled_.size());
    const auto [at, is_new] = sampled_.try_emplace(begin, number);
    if (is_new) sink_.on_function(number, place_of(begin, known));
    return at->second;
}

// The clock stands still for the tracer's time.
void CallFeed::Core::cut_to(std::uint64_t clock, Ticks cut) {
    if (cut == cut_) return;
    cut_ = cut;
    stops_.remember(clock, cut);
}

void CallFeed::Core::end(std::uint64_t entry, bool returned) {
    OpenCalls& open = current_->open;
    ended_function_ = FunctionTable::none;
    Open* at = open.end();
    const auto is_it = [&](const Open& one) {
        return ((one.index ^ entry) & index_mask) == 0 && one.function < first_own_function;
    };
    while (at != open.begin() && !is_it(at[-1])) --at;
    if (at == open.begin()) return;
    while (open.end() != at) {
        const bool tracer = !returned && open.back().function == tracer_function;  // goes on
        close_any(*current_, tracer ? Left::returned : Left::unwound);
    }
    ended_function_ = open.back().function;
    close_any(*current_, returned ? Left::returned : Left::unwound);
}

void CallFeed::Core::whole(std::uint32_t offset, Ticks ticks, std::uint32_t depth) {
    // Hostile ticks may give any begin.
    feed_.sink_.whole(current_->track, feed_.site(offset), std::min(now_, time_at(clock_ - ticks)),
                      now_, depth);
}

void CallFeed::Core::begin_tracer(std::uint64_t index) {
    end_tracer();  // the last one's tracer_end may be missing: the ring was full
    if (!feed_.cuts_) open_own(*current_, tracer_function, index);
}

// Calls above it on the stack are an interrupt's, which left them without a return.
void CallFeed::Core::end_tracer() {
    tracer_waits_ = false;
    OpenCalls& open = current_->open;
    Open* at = open.end();
    while (at != open.begin() && at[-1].function != tracer_function) --at;
    if (at == open.begin()) return;
    while (open.end() != at) close_any(*current_, Left::unwound);
    close_any(*current_, Left::returned);
}

void CallFeed::Core::pass_unwinding(std::uint64_t clock, Ticks tracer) {
    if (feed_.cuts_) return cut_to(clock, cut_base_ + tracer);
    const Nanoseconds now = std::max(now_, feed_.time_(clock));
    if (now == now_) return;
    open_own(*current_, tracer_function, 0);
    now_ = now;
    close_any(*current_, Left::returned);
}

void CallFeed::Core::close_all(OneTrack& of, Left how) {
    if (!of.open.empty()) of.last = now_;
    while (!of.open.empty()) close_any(of, how);
    of.away = false;
}

void CallFeed::Core::end_tracks(Left how) {
    for (const auto& one : tracks_) close_all(*one, how);
}

CallFeed::OneTrack& CallFeed::Core::track(std::uint32_t context, bool is_certain, bool announces) {
    if (const auto known = by_context_.find(context); known != by_context_.end())
        return *known->second;
    if (OneTrack* const moved = moved_track(context, is_certain)) return *moved;
    const bool has_room = feed_.track_count_ < max_tracks && feed_.budget_.take(price::context);
    if (!tracks_.empty() && !has_room) return *tracks_.back();
    OneTrack& added = *tracks_.emplace_back(std::make_unique<OneTrack>());
    ++feed_.track_count_;
    by_context_.emplace(context, &added);
    added.track = {.number = 0, .core = number_, .context = context, .task = task_of(context)};
    if (announces) feed_.introduce(added);
    return added;
}

// Null: no other core ran it in this session. Without a record of the switch, a context that still
// seems to run there may do so: that core's records may come late.
CallFeed::OneTrack* CallFeed::Core::moved_track(std::uint32_t context, bool is_certain) {
    if (context == 0 || context == protocol::several_contexts) return nullptr;
    const auto known = feed_.core_of_.find(context);
    if (known == feed_.core_of_.end() || known->second == this) return nullptr;
    Core& other = *known->second;
    const auto one = other.by_context_.find(context);
    if (one == other.by_context_.end() || one->second->session != feed_.sessions_) return nullptr;
    OneTrack& moved = *one->second;
    if (&moved == other.current_ &&
        (!is_certain || &other.track(protocol::several_contexts) == &moved))
        return nullptr;
    take(other, moved);
    return &moved;
}

void CallFeed::Core::take(Core& from, OneTrack& moved) {
    settle();
    from.settle();
    // The core's record of its next context may come later. Until then it runs an unknown one.
    if (&moved == from.current_) {
        from.enter(from.track(protocol::several_contexts), from.now_);
        from.settle();
    }
    if (is_over_ && !from.is_over_) {
        std::swap(from.now_, moved.last);
        from.close_all(moved, Left::open);
        std::swap(from.now_, moved.last);
    }
    const auto one = std::ranges::find(from.tracks_, &moved, &std::unique_ptr<OneTrack>::get);
    tracks_.push_back(std::move(*one));
    from.by_context_.erase(moved.track.context);
    by_context_.emplace(moved.track.context, &moved);
    from.tracks_.erase(one);
    moved.track.core = number_;
    for (Open& call : moved.open) call.tracer += tracer_ - moved.tracer;
    feed_.core_of_[moved.track.context] = this;
    now_ = std::max(now_, moved.last);
    feed_.introduce(*tracks_.front());  // a format may prepare a core at its first track
}

// Makes `to` the running track.
void CallFeed::Core::run(OneTrack& to) {
    OneTrack* const from = std::exchange(current_, &to);
    tracer_waits_ = false;
    from->last = now_;
    from->tracer = tracer_;
    if (std::exchange(to.session, feed_.sessions_) != feed_.sessions_)
        feed_.core_of_[to.track.context] = this;
    feed_.introduce(to);
}

void CallFeed::Core::enter_unseen(std::uint32_t context, std::uint64_t clock, Ticks tracer) {
    const Nanoseconds before = now_;
    reach(clock, tracer);
    enter(track(context), before);
    settle();
}

// The track that the core leaves shows `away_function` if it has open calls.
void CallFeed::Core::enter(OneTrack& to, Nanoseconds left) {
    if (current_ == &to) return;
    settle();
    if (!current_->open.empty()) {
        current_->away = true;
        const Nanoseconds now = std::exchange(now_, left);
        open_own(*current_, away_function, current_->open.back().index);
        now_ = now;
    }
    waiting_ = {.from = current_, .to = &to, .at = now_, .ends_away = to.away};
    attends_ = true;
    run(to);
    to.away = false;
}

void CallFeed::Core::gap(std::uint32_t context) {
    settle();
    OneTrack& next = track(context, false);
    end_tracks(Left::gap);
    end_running();
    run(next);
}

void CallFeed::Core::begin_part(std::uint32_t context, std::uint64_t clock, Ticks cut) {
    if (feed_.cuts_) cut_to(clock, cut);
    reach(clock);
    clock_ = clock;
    absent_to_[0] = absent_to_[1] = now_;
    run(track(context));
    begin_running(now_);
}

void CallFeed::Core::show(std::uint32_t context, const CallStack& calls, std::uint32_t gaps,
                          std::optional<std::size_t> tracer_depth) {
    OneTrack& on = track(context);
    feed_.introduce(on);
    on.session = feed_.sessions_;
    feed_.core_of_[context] = this;
    on.last = std::max(on.last, now_);
    for (std::size_t at = 0; at <= calls.depth(); ++at) {
        if (at != 0 && calls[at].is_shown() && calls[at].gaps_before == gaps)
            open(on, feed_.site(calls[at].path.function), calls[at].index);
        if (tracer_depth == at && !feed_.cuts_) open_own(on, tracer_function, calls[at].index);
    }
    if (&on == current_ || on.open.empty()) return;
    on.away = true;
    open_own(on, away_function, on.open.back().index);
}

// They have entered at the part's begin, on a core that could not know. They leave at that time.
void CallFeed::Core::hide(std::uint32_t context) { close_all(track(context), Left::open); }

void CallFeed::Core::end_part(std::uint64_t clock, Ticks tracer) {
    settle();
    reach(clock, tracer);
    // The other contexts may go on, on another core.
    close_all(*current_, Left::open);
    end_running();
    is_over_ = true;
}

void CallFeed::Core::tell(const MissingPart& part) {
    const auto in_session = [&](std::uint64_t clock) {
        return time_at(std::clamp(clock, feed_.first_clock_, feed_.last_clock_));
    };
    const bool is_drop = part.lost == 0 && part.overwritten == 0;
    Nanoseconds& before = absent_to_[is_drop ? 1 : 0];
    Nanoseconds from = std::max(before, in_session(part.from));
    Nanoseconds to = std::max(from, in_session(part.to));
    if (is_over_) {
        from = std::min(from, now_);
        to = std::min(to, now_);
        if (from == to) return;
    }
    before = to;
    feed_.sink_.absence(number_, {from, before, part.lost, part.overwritten, part.dropped});
}

void CallFeed::Core::tell_switch(const OneTrack* from, const OneTrack* to, Nanoseconds at,
                                 protocol::Left how) {
    CoreSwitch told{.core = number_, .from = {}, .to = {}, .at = at, .how = how};
    if (from != nullptr && from->introduced) told.from = from->track;
    if (to != nullptr && to->introduced) told.to = to->track;
    feed_.sink_.on_switch(told);
}

void CallFeed::Core::begin_running(Nanoseconds at) {
    is_running_ = true;
    tell_switch(nullptr, current_, at);
}

void CallFeed::Core::end_running() {
    if (std::exchange(is_running_, false)) tell_switch(current_, nullptr, now_);
    attends_ = true;
}

void CallFeed::Core::settle() {
    const Waiting waiting = std::exchange(waiting_, {});
    if (waiting.from == nullptr) return;
    tell_switch(waiting.from, waiting.to, waiting.at, waiting.how);
    if (!waiting.ends_away) return;
    const Nanoseconds now = std::exchange(now_, waiting.at);
    close_any(*waiting.to, Left::returned);
    now_ = now;
}

// A record of a move, with its data, may stand between the `context` record and the record that
// says how the core left.
void CallFeed::Core::attend(const protocol::StampedRecord& next) {
    const protocol::Record record = next.record;
    if (waiting_.from != nullptr && record.kind() == protocol::Kind::extended) {
        if (record.is(protocol::Extended::data)) return;
        if (record.is(protocol::Extended::task)) {
            const protocol::TaskFact fact = protocol::task_fact(record.argument());
            if (fact == protocol::TaskFact::moved) return;
            if (fact == protocol::TaskFact::left)
                waiting_.how = protocol::how_left(record.argument());
        }
    }
    settle();
    if (!is_running_) begin_running(std::max(now_, feed_.time_(next.clock - cut_)));
    attends_ = false;
}

void CallFeed::Core::ready(std::uint64_t context) {
    if (context >= protocol::several_contexts) return;
    OneTrack* const task = ready_track(static_cast<std::uint32_t>(context));
    if (task == nullptr) return;
    feed_.introduce(*task);
    feed_.sink_.on_ready(current_->track, task->track, now_);
}

// The task may not have run yet. Then it counts as this core's until it runs.
CallFeed::OneTrack* CallFeed::Core::ready_track(std::uint32_t context) {
    if (context == 0) return tracks_.front().get();
    if (const auto at = feed_.core_of_.find(context); at != feed_.core_of_.end()) {
        const auto& there = at->second->by_context_;
        const auto one = there.find(context);
        if (one != there.end() && one->second->session == feed_.sessions_) return one->second;
    }
    OneTrack& task = track(context, false);
    if (task.track.context != context) return nullptr;
    task.session = feed_.sessions_;
    feed_.core_of_[context] = this;
    return &task;
}

const TaskOfTrack* CallFeed::Core::task_of(std::uint32_t context) const {
    if (feed_.tasks_ == nullptr || feed_.sessions_ == 0) return nullptr;
    return &feed_.tasks_->of(feed_.sessions_ - 1, number_, context);
}

// Numbers that are other tasks than in the session before get new tracks.
void CallFeed::Core::forget_other_tasks() {
    if (feed_.tasks_ == nullptr) return;
    std::erase_if(by_context_,
                  [&](const auto& one) { return one.second->track.task != task_of(one.first); });
    if (by_context_.contains(0)) return;
    OneTrack& own = track(0);
    const auto at = std::ranges::find(tracks_, &own, &std::unique_ptr<OneTrack>::get);
    std::rotate(tracks_.begin(), at, std::next(at));
}

void CallFeed::Core::data(const WithData& record) {
    switch (record.head().extended) {
    case protocol::Extended::sample: return tell_sample(record);
    case protocol::Extended::arguments:
    case protocol::Extended::result:
    case protocol::Extended::counter: return tell_values(record);
    case protocol::Extended::events: return tell_events(record);
    case protocol::Extended::masked: return tell_masked(record);
    default: return;
    }
}

// Their return is the record before. If it ended no call, the counts belong to none.
void CallFeed::Core::tell_events(const WithData& record) {
    const protocol::Event& head = record.head();
    if (after_return_ != head.index) return;
    const CountedEvents each = counts_of(record);
    const unsigned count = different_events(head.argument);
    std::array<EventCount, protocol::max_events> counts;
    for (unsigned n = 0; n < count; ++n)
        counts[n] = {protocol::event_of(head.argument, n), each[n]};
    feed_.sink_.events(current_->track, ended_function_, {counts.data(), count}, now_);
}

void CallFeed::Core::tell_masked(const WithData& record) {
    const auto data = record.data();
    const Nanoseconds begin = time_at(record.head().clock - data[1]);
    const Nanoseconds from = std::clamp(begin, masked_to_, std::max(masked_to_, now_));
    masked_to_ = std::max(masked_to_, now_);
    feed_.sink_.masked(current_->track, feed_.sampled(data[0], true), from, masked_to_);
}

void CallFeed::Core::tell_values(const WithData& record) {
    std::array<CapturedPart, 8> room;
    for (const CapturedPart& part : values_of(record, room)) {
        if (part.what == CapturedPart::counter) {
            feed_.sink_.counter(current_->track, part.of, part.value, now_);
        } else {
            feed_.sink_.value(current_->track,
                              {feed_.site(part.of), part.what, part.value,
                               captured_name(feed_.architecture_, part.what)},
                              now_);
        }
    }
}

void CallFeed::Core::tell_sample(const WithData& record) {
    const auto addresses = record.data();
    const bool has_link = protocol::sample_has_link(record.head().argument);
    auto& path = feed_.path_;
    path.clear();
    for (std::size_t i = 0; i < addresses.size(); ++i) {
        const std::uint32_t function = feed_.sampled(addresses[i], i != 0);
        // The link register has the return address of the last call that the function made.
        if (i == 1 && has_link && path.back() == function) continue;
        path.push_back(function);
    }
    std::reverse(path.begin(), path.end());
    feed_.sink_.sample(current_->track, path, now_);
}

}  // namespace nopscope::host
