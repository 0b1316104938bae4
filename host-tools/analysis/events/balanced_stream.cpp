// SPDX-License-Identifier: Apache-2.0
#include "host-tools/analysis/events/balanced_stream.hpp"

#include <algorithm>
#include <utility>

#include "host-tools/base/error.hpp"
#include "host-tools/base/text.hpp"
#include "host-tools/image/arch/arch.hpp"
#include "host-tools/line/stream/same_image.hpp"

namespace nopscope::host {

void BalancedStream::on_part(PartMark mark, unsigned number, std::uint64_t clock) {
    if (mark == PartMark::ahead) {
        part_is_ahead_ = true;
        return;
    }
    if (mark == PartMark::origin) return begin_axis(clock);
    Core& core = this->core(number);
    turn_to(core);
    settle(core);
    if (cuts_ && core.current->stack.back().function == tracer_function) cut(core, clock);
    if (core.unwinding) charge_to_tracer(core, clock);
    core.now = std::max(core.now, time_(clock - core.cut));
    core.clock = clock;
    if (mark == PartMark::end) {
        // The other contexts may go on, on another core.
        end_calls(core, *core.current, Left::open);
        end_running(core);
        core.unwinding = false;
        core.is_shown = false;
        core.is_over = true;
        return;
    }
    core.is_shown = true;
    core.absent_to[0] = core.absent_to[1] = core.now;
    turn_to(core);
    introduce(core, *core.current);
    begin_running(core, core.now);
    for (const auto& one : core.contexts) {
        if (one.get() != core.current && one->stack.size() == 1) continue;
        show_open_calls(core, *one);
    }
}

void BalancedStream::show_open_calls(Core& core, Context& context) {
    introduce(core, context);
    context.last = std::max(context.last, core.now);
    for (std::size_t at = 1; at < context.stack.size(); ++at) {
        const std::uint32_t function = context.stack[at].function;
        if (function == tracer_function && cuts_) continue;
        if (function >= first_own_function) introduce_own(function);
        to_->entry(context.track, function, core.now);
    }
}

void BalancedStream::on_session(const HelloInfo& hello) {
    if (const Symbols* const symbols = symbols_()) {
        if (const auto sentence = mismatch(*symbols, hello))
            throw Error(origin_ + ": " + *sentence);
    }
    cuts_ = axis_ ? axis_ == TimeAxis::without_tracer : cuts_tracer_out(hello);
    sink_.on_target(hello);
    sink_.on_axis(cuts_ ? TimeAxis::without_tracer : TimeAxis::wall);
    Nanoseconds latest = 0;
    ++sessions_;
    for (const auto& core : cores_) {
        if (!core) continue;
        turn_to(*core);
        forget_other_tasks(*core);
        run(*core, *core->contexts.front());
        latest = std::max(latest, core->now);
    }
    time_.begin_session(hello.clock_hz, latest);
    base_ = hello.text_base - hello.load_bias;
    architecture_ = hello.architecture;
    site_count_ = hello.site_count;
    clock_pair_.reset();
    first_clock_ = last_clock_ = 0;
}

void BalancedStream::on_session_end() {
    for (const auto& core : cores_) {
        if (!core) continue;
        turn_to(*core);
        settle(*core);
    }
    std::erase_if(absences_, [](const Missing& missing) { return missing.core->is_ahead(); });
    tell_absences(~std::uint64_t{0});
    for (const auto& core : cores_) {
        if (!core) continue;
        to_ = core->is_ahead() ? static_cast<EventSink*>(&nobody_) : &sink_;
        end_all(*core, Left::open);
        end_running(*core);
        core->with_data = {};
        core->after_return.reset();
        core->cut = 0;
        core->stops.restart(0);
    }
}

BalancedStream::Core& BalancedStream::core(unsigned number) {
    auto& slot = cores_[number & 0xff];
    if (!slot) {
        if (++core_count_ > 1 && axis_ == TimeAxis::without_tracer) {
            throw Error(
                "--cut-tracer: " + origin_ +
                    " has several cores, which have no common axis without the tracer's time",
                Exit::usage);
        }
        slot = std::make_unique<Core>();
        slot->number = number & 0xff;
        slot->is_shown = !part_is_ahead_;
        slot->current = &context(*slot, 0);
    }
    return *slot;
}

bool BalancedStream::has_room() {
    return context_count_ < max_contexts && budget_.take(price::context);
}

BalancedStream::Context& BalancedStream::context(Core& core, std::uint32_t number,
                                                 bool is_certain) {
    if (const auto known = core.by_number.find(number); known != core.by_number.end())
        return *known->second;
    if (Context* const moved = moved_context(core, number, is_certain)) return *moved;
    if (!core.contexts.empty() && !has_room()) return *core.contexts.back();
    Context& added = *core.contexts.emplace_back(std::make_unique<Context>());
    ++context_count_;
    core.by_number.emplace(number, &added);
    added.track = {
        .number = 0, .core = core.number, .context = number, .task = task_of(core, number)};
    added.stack.resize(1);
    introduce(core, added);
    return added;
}

// Null: no other core ran it in this session. Without a record of the switch, a context that still
// seems to run there may do so: that core's records may come late.
BalancedStream::Context* BalancedStream::moved_context(Core& core, std::uint32_t number,
                                                       bool is_certain) {
    if (number == 0 || number == protocol::several_contexts) return nullptr;
    const auto known = core_of_.find(number);
    if (known == core_of_.end() || known->second == &core) return nullptr;
    Core& other = *known->second;
    const auto one = other.by_number.find(number);
    if (one == other.by_number.end() || one->second->session != sessions_) return nullptr;
    Context& moved = *one->second;
    if (&moved == other.current &&
        (!is_certain || &context(other, protocol::several_contexts) == &moved))
        return nullptr;
    move(other, core, moved);
    return &moved;
}

void BalancedStream::move(Core& from, Core& to, Context& moved) {
    turn_to(to);
    settle(to);
    turn_to(from);
    settle(from);
    // The core's record of its next context may come later. Until then it runs an unknown one.
    if (&moved == from.current) {
        enter(from, context(from, protocol::several_contexts), from.now);
        settle(from);
    }
    const bool hides = !from.is_ahead() && !to.is_shown;
    if (hides && to.is_over) {
        moved.last = from.now;
        hide_open_calls(moved);
    }
    const auto one = std::ranges::find(from.contexts, &moved, &std::unique_ptr<Context>::get);
    to.contexts.push_back(std::move(*one));
    from.by_number.erase(moved.track.context);
    to.by_number.emplace(moved.track.context, &moved);
    from.contexts.erase(one);
    moved.track.core = to.number;
    if (hides && to.is_ahead()) {  // the move came before the part: the calls enter again in it
        announce(*to.contexts.front());
        hide_open_calls(moved);
    }
    core_of_[moved.track.context] = &to;
    moved.has_moved |= moved.stack.size() > 1;
    to.now = std::max(to.now, moved.last);
    turn_to(to);
    introduce(to, *to.contexts.front());  // a format may prepare a core at its first track
    if (to.is_shown && from.is_ahead()) show_open_calls(to, moved);
}

void BalancedStream::hide_open_calls(const Context& context) {
    for (std::size_t top = context.stack.size() - 1; top > 0; --top) {
        const std::uint32_t function = context.stack[top].function;
        if (function == tracer_function && cuts_) continue;
        sink_.leave(context.track, function, context.last, Left::open);
    }
}

void BalancedStream::introduce(Core& core, Context& context) {
    if (core.is_shown) announce(context);
}

void BalancedStream::announce(Context& context) {
    if (std::exchange(context.introduced, true)) return;
    context.track.number = tracks_++;
    sink_.on_track(context.track);
}

[[gnu::always_inline]] inline std::uint32_t BalancedStream::site(std::uint32_t offset) {
    const std::uint32_t number = is_interrupt(offset) ? functions_.number_of_any(offset, budget_)
                                                      : functions_.number(offset, budget_);
    // Also true for FunctionTable::none, which is 0.
    if (number - 1 >= introduced_ - 1) [[unlikely]]
        introduce_site(number, offset);
    return number;
}

[[gnu::always_inline]] inline void BalancedStream::on_entry(Core& core, std::uint32_t offset,
                                                            std::uint64_t index) {
    const std::uint32_t function = site(offset);
    if (core.current->stack.size() > max_depth)
        return to_->point(core.current->track, function, core.now);
    core.current->stack.push_back({index, function, plain_return(index)});
    to_->entry(core.current->track, function, core.now);
}

void BalancedStream::on_trace(unsigned number, const TraceBatch& batch) {
    Core& core = this->core(number);
    turn_to(core);
    if (!batch.records.empty()) {
        if (!time_.started()) begin_axis(batch.records.front().clock);
        last_clock_ = std::max(last_clock_, batch.records.front().clock);
        tell_absences(last_clock_);
        last_clock_ = std::max(last_clock_, batch.records.back().clock);
    }
    if (batch.gap) {
        settle(core);
        Context& next = context(core, batch.context, false);
        end_all(core, Left::gap);
        end_running(core);
        run(core, next);
    }
    std::uint64_t index = batch.first_index;
    for (const protocol::StampedRecord& stamped : batch.records) {
        const protocol::Record record = stamped.record;
        if (cuts_ && core.current->stack.back().function == tracer_function) [[unlikely]]
            cut(core, stamped.clock);
        if (core.attends) [[unlikely]]
            attend(core, stamped);
        core.before = core.now;
        core.clock = stamped.clock;
        core.now = std::max(core.now, time_(stamped.clock - core.cut));
        if (record.high() == core.current->stack.back().plain_end) {
            core.after_return = index + 1;
            core.ended_function = core.current->stack.back().function;
            end(core, *core.current, Left::returned);
        } else if (record.kind() == protocol::Kind::entry) {
            on_entry(core, record.site_low(), index);
        } else if (record.kind() == protocol::Kind::call) {
            to_->point(core.current->track, site(record.site_low()), core.now);
        } else if (record.kind() == protocol::Kind::ret) {
            on_return(core, protocol::event_of(stamped, index));
        } else {
            on_extended(core, protocol::event_of(stamped, index));
        }
        ++index;
    }
    if (clock_pair_) [[unlikely]]
        tell_clock_pair();
}

void BalancedStream::begin_axis(std::uint64_t clock) {
    first_clock_ = clock;
    const Nanoseconds origin = time_(clock);
    if (!std::exchange(has_origin_, true)) sink_.on_origin(origin);
}

// Waits: some missing parts come from stats, whose clock may lie outside of the session's records.
void BalancedStream::on_missing(unsigned number, const MissingPart& part) {
    absences_.push_back({&core(number), part});
}

void BalancedStream::tell_absences(std::uint64_t reached) {
    std::erase_if(absences_, [&](const Missing& missing) {
        if (missing.part.to > reached || missing.core->is_ahead()) return false;
        tell(*missing.core, missing.part);
        return true;
    });
}

void BalancedStream::tell(Core& core, const MissingPart& part) {
    const auto in_session = [&](std::uint64_t clock) {
        return time_at(core, std::clamp(clock, first_clock_, last_clock_));
    };
    const bool is_drop = part.lost == 0 && part.overwritten == 0;
    Nanoseconds& before = core.absent_to[is_drop ? 1 : 0];
    Nanoseconds from = std::max(before, in_session(part.from));
    Nanoseconds to = std::max(from, in_session(part.to));
    if (core.is_over) {
        from = std::min(from, core.now);
        to = std::min(to, core.now);
        if (from == to) return;
    }
    before = to;
    sink_.absence(core.number, {from, before, part.lost, part.overwritten, part.dropped});
}

// Converts a clock that may lie before the last record to a time on the axis.
Nanoseconds BalancedStream::time_at(const Core& core, std::uint64_t clock) {
    return time_(cuts_ ? clock - core.stops.before(clock) : clock);
}

// The clock stands still from the last record to this one.
void BalancedStream::cut(Core& core, std::uint64_t clock) {
    core.cut += not_negative(clock - core.clock);
    core.stops.remember(clock, core.cut);
}

void BalancedStream::on_console(std::string_view text) {
    sink_.console(text, cores_[0] ? cores_[0]->now : 0);
}

// A pair before the session's first record waits for that record, which must begin the axis.
void BalancedStream::on_clock_pair(const ClockPair& pair) {
    if (cuts_) return;
    clock_pair_ = pair;
    if (time_.started()) tell_clock_pair();
}

void BalancedStream::tell_clock_pair() {
    sink_.time_pair({.time = time_(clock_pair_->clock),
                     .utc_ns = clock_pair_->utc_ns,
                     .error_ns = clock_pair_->error_ns,
                     .exchanged = clock_pair_->exchanged});
    clock_pair_.reset();
}

void BalancedStream::introduce_site(std::uint32_t number, std::uint32_t offset) {
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

void BalancedStream::introduce_own(std::uint32_t function) {
    if ((own_introduced_ & 1u << (function - first_own_function)) != 0) return;
    own_introduced_ |= 1u << (function - first_own_function);
    sink_.on_function(
        function,
        {.name = function == tracer_function ? "(tracer)" : "(other context)", .file = {}});
}

void BalancedStream::begin(Core& core, std::uint32_t function, std::uint64_t index,
                           std::uint32_t plain_end) {
    core.current->stack.push_back({index, function, plain_end});
    if (function == tracer_function && cuts_) return;
    if (function >= first_own_function) introduce_own(function);
    to_->entry(core.current->track, function, core.now);
}

void BalancedStream::end(Core& core, Context& of, Left how) {
    const std::uint32_t function = of.stack.back().function;
    of.stack.pop_back();
    if (function == tracer_function && cuts_) return;
    to_->leave(of.track, function, core.now, how);
}

void BalancedStream::end_all(Core& core, Left how) {
    for (const auto& one : core.contexts) end_calls(core, *one, how);
    core.unwinding = false;
}

void BalancedStream::end_calls(Core& core, Context& of, Left how) {
    if (of.stack.size() > 1) of.last = core.now;
    while (of.stack.size() > 1) end(core, of, how);
    of.away = false;
    of.duration = {};
}

void BalancedStream::run(Core& core, Context& to) {
    Context* const from = std::exchange(core.current, &to);
    from->last = core.now;
    if (std::exchange(to.session, sessions_) != sessions_) core_of_[to.track.context] = &core;
    introduce(core, to);
}

// The track that the core leaves shows `away_function` if it has open calls.
void BalancedStream::enter(Core& core, Context& to, Nanoseconds left) {
    if (core.current == &to) return;
    settle(core);
    if (core.current->stack.size() > 1 && core.current->stack.size() <= max_depth) {
        core.current->away = true;
        const Nanoseconds now = std::exchange(core.now, left);
        begin(core, away_function, core.current->stack.back().index, Open::no_call);
        core.now = now;
    }
    core.waiting = {.from = core.current, .to = &to, .at = core.now, .ends_away = to.away};
    core.attends = true;
    run(core, to);
    core.unwinding = false;
    if (std::exchange(to.away, false)) to.stack.pop_back();
}

// The place of the open call that the return names, or 0; see CallStack::find().
std::size_t BalancedStream::find(const Context& context, const protocol::Event& event) {
    const auto& stack = context.stack;
    const std::uint64_t wanted =
        event.index - ((event.index - event.entry_index) & protocol::entry_index_mask);
    const bool ascends =
        !context.has_moved &&
        (stack.size() == 1 || event.index - stack[1].index <= protocol::entry_index_mask);
    for (std::size_t i = stack.size() - 1; i > 0; --i) {
        if (stack[i].plain_end == plain_return(event.entry_index)) return i;
        if (ascends && stack[i].index < wanted) break;
    }
    return 0;
}

void BalancedStream::on_return(Core& core, const protocol::Event& event) {
    std::size_t at = find(*core.current, event);
    if (at == 0) {
        // The record of a context switch is missing: recording was stopped, or the ring was full.
        for (const auto& one : core.contexts) {
            if (one.get() == core.current || find(*one, event) == 0) continue;
            enter(core, *one, core.before);
            settle(core);
            at = find(*one, event);
            break;
        }
    }
    if (at == 0) {
        ++orphan_returns_;
        return;
    }
    auto& stack = core.current->stack;
    while (stack.size() > at + 1) {
        const bool tracer = event.unwound && stack.back().function == tracer_function;  // goes on
        end(core, *core.current, tracer ? Left::returned : Left::unwound);
    }
    core.after_return = event.index + 1;
    core.ended_function = stack.back().function;
    end(core, *core.current, event.unwound ? Left::unwound : Left::returned);
    core.unwinding = event.unwound && std::none_of(stack.begin(), stack.end(), [](const Open& one) {
                         return one.function == tracer_function;
                     });
    core.attends |= core.unwinding;
}

void BalancedStream::end_unwinding(Core& core, const protocol::StampedRecord& next) {
    const Nanoseconds now = std::max(core.now, time_(next.clock - core.cut));
    if (next.record.kind() == protocol::Kind::extended &&
        !next.record.is(protocol::Extended::tracer_end)) {
        core.unwinding = now == core.now;  // true for the return's own data
        return;
    }
    core.unwinding = false;
    charge_to_tracer(core, next.clock);
}

void BalancedStream::charge_to_tracer(Core& core, std::uint64_t clock) {
    const Nanoseconds now = std::max(core.now, time_(clock - core.cut));
    if (now == core.now || core.current->stack.size() > max_depth) return;
    if (cuts_) return cut(core, clock);
    introduce_own(tracer_function);
    to_->entry(core.current->track, tracer_function, core.now);
    to_->leave(core.current->track, tracer_function, now, Left::returned);
}

void BalancedStream::on_extended(Core& core, const protocol::Event& event) {
    Context& context = *core.current;
    switch (event.extended) {
    case protocol::Extended::context: {
        const Nanoseconds left = core.now;
        return enter(core, this->context(core, event.argument), left);
    }
    case protocol::Extended::interrupt:
        context.duration.wanted = 0;
        on_entry(core, interrupt_offset(event.argument), event.index);
        break;
    case protocol::Extended::tracer_begin:
        on_tracer_end(core);  // the last one's tracer_end may be missing: the ring was full
        if (context.stack.size() > max_depth) return;
        return begin(core, tracer_function, event.index, Open::no_call);
    case protocol::Extended::tracer_end: return on_tracer_end(core);
    case protocol::Extended::marker: to_->mark(context.track, event.argument, core.now); break;
    case protocol::Extended::duration:
        context.duration = {.wanted = 2, .depth = event.argument, .site = 0, .ticks = 0};
        break;
    case protocol::Extended::data:
        if (!context.duration.data(event.data)) break;
        // Hostile ticks may give any begin.
        to_->whole(context.track, site(context.duration.site),
                   std::min(core.now, time_at(core, event.clock - context.duration.ticks)),
                   core.now, context.duration.depth);
        return;
    default: context.duration.wanted = 0; break;
    }
    if (core.with_data.take(event)) on_data(core);
}

// Calls above it on the stack are an interrupt's, which left them without a return.
void BalancedStream::on_tracer_end(Core& core) {
    auto& stack = core.current->stack;
    std::size_t at = stack.size() - 1;
    while (at > 0 && stack[at].function != tracer_function) --at;
    if (at == 0) return;
    while (stack.size() > at + 1) end(core, *core.current, Left::unwound);
    end(core, *core.current, Left::returned);
}

void BalancedStream::on_data(Core& core) {
    switch (core.with_data.head().extended) {
    case protocol::Extended::sample: return on_sample(core);
    case protocol::Extended::arguments:
    case protocol::Extended::result:
    case protocol::Extended::counter: return on_values(core);
    case protocol::Extended::events: return on_events(core);
    case protocol::Extended::masked: return on_masked(core);
    case protocol::Extended::task: return on_task(core);
    default: return;
    }
}

// Their return is the record before. If it ended no call, the counts belong to none.
void BalancedStream::on_events(Core& core) {
    const protocol::Event& head = core.with_data.head();
    if (core.after_return != head.index) return;
    const EventChildren::Counts each = counts_of(core.with_data);
    const unsigned count = different_events(head.argument);
    std::array<EventCount, protocol::max_events> counts;
    for (unsigned n = 0; n < count; ++n)
        counts[n] = {protocol::event_of(head.argument, n), each[n]};
    to_->events(core.current->track, core.ended_function, {counts.data(), count}, core.now);
}

void BalancedStream::on_masked(Core& core) {
    const auto data = core.with_data.data();
    const Nanoseconds begin = time_at(core, core.with_data.head().clock - data[1]);
    const Nanoseconds from = std::clamp(begin, core.masked_to, std::max(core.masked_to, core.now));
    core.masked_to = std::max(core.masked_to, core.now);
    to_->masked(core.current->track, sampled(data[0], true), from, core.masked_to);
}

void BalancedStream::on_values(Core& core) {
    std::array<CapturedPart, 8> room;
    for (const CapturedPart& part : values_of(core.with_data, room)) {
        if (part.what == CapturedPart::counter) {
            to_->counter(core.current->track, part.of, part.value, core.now);
        } else {
            to_->value(
                core.current->track,
                {site(part.of), part.what, part.value, captured_name(architecture_, part.what)},
                core.now);
        }
    }
}

void BalancedStream::on_sample(Core& core) {
    const auto addresses = core.with_data.data();
    const bool has_link = protocol::sample_has_link(core.with_data.head().argument);
    path_.clear();
    for (std::size_t i = 0; i < addresses.size(); ++i) {
        const std::uint32_t function = sampled(addresses[i], i != 0);
        // The link register has the return address of the last call that the function made.
        if (i == 1 && has_link && path_.back() == function) continue;
        path_.push_back(function);
    }
    std::reverse(path_.begin(), path_.end());
    to_->sample(core.current->track, path_, core.now);
}

std::uint32_t BalancedStream::sampled(std::uint64_t data, bool is_return) {
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

}  // namespace nopscope::host
