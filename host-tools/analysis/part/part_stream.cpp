// SPDX-License-Identifier: Apache-2.0
#include "host-tools/analysis/part/part_stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "host-tools/base/error.hpp"
#include "host-tools/base/nearest.hpp"
#include "host-tools/base/text.hpp"
#include "host-tools/image/function_names.hpp"

namespace nopscope::host {
namespace {

// The other facts are of objects, which belong to the calls of the task that runs.
bool tells_of_contexts(protocol::Record word) {
    if (!word.is(protocol::Extended::task)) return false;
    const protocol::TaskFact fact = protocol::task_fact(word.argument());
    return fact == protocol::TaskFact::moved || fact == protocol::TaskFact::left ||
           fact == protocol::TaskFact::ready;
}

}  // namespace

void RecordingBounds::mark(const Track&, std::uint32_t id, Nanoseconds now) {
    reach(now);
    if (marks_.size() < Profile::max_markers) {
        marks_.push_back({id, now - std::min(now, origin_)});
    } else {
        ++left_out_;
    }
}

TimeRange RecordingBounds::resolved(const TimeRange& range) const {
    std::vector<Mark> marks = marks_;
    std::stable_sort(marks.begin(), marks.end(),
                     [](const Mark& a, const Mark& b) { return a.at < b.at; });
    const auto at = [&](const TimePoint& point, Nanoseconds not_before) -> TimePoint {
        const Nanoseconds length = end_ - origin_;
        switch (point.from) {
        case TimePoint::From::begin: return point;
        case TimePoint::From::end: return {.ns = length - std::min(length, point.ns)};
        case TimePoint::From::marker: break;
        }
        const auto found = std::find_if(marks.begin(), marks.end(), [&](const Mark& mark) {
            return mark.id == point.marker && mark.at >= not_before;
        });
        if (found != marks.end()) return {.ns = found->at};
        throw Error(fmt::format("--time: the recording has no marker {}{}", point.marker,
                                not_before != 0 ? " after the range's begin" : ""),
                    Exit::usage);
    };
    TimeRange result;
    if (range.from) result.from = at(*range.from, 0);
    if (range.to) {
        const bool both_are_markers = range.from && range.from->from == TimePoint::From::marker;
        result.to = at(*range.to, both_are_markers ? result.from->ns + 1 : 0);
    }
    return result;
}

PartStream::PartStream(SessionSink& inner, const Part& part,
                       const std::function<const Symbols*()>& symbols, const std::string& origin,
                       Tasks tasks, std::uint64_t session)
    : inner_(inner),
      part_(part),
      follower_(*this, symbols, origin, std::nullopt),
      tasks_(std::move(tasks)),
      session_(session) {
    if (part_.time.from && part_.time.to && part_.time.from->ns >= part_.time.to->ns)
        throw Error("--time: its end is not after its begin", Exit::usage);
    if (!part_.time.whole()) inner_.on_part(PartMark::ahead, 0, 0);
}

void PartStream::check() const {
    if (part_.core && !cores_[*part_.core & 0xff]) {
        std::string list;
        for (const auto& core : cores_) {
            if (core) list += fmt::format("{}{}", list.empty() ? "" : ", ", core->number);
        }
        throw Error(fmt::format("--core {}: the recording has no records of it, only of {}",
                                *part_.core, list.empty() ? "none" : list),
                    Exit::usage);
    }
    if (!part_.under.empty() && !found_function_) {
        throw Error(fmt::format("--under: no function that was called is named {}{}",
                                for_cell(part_.under), did_you_mean(part_.under, names_)),
                    Exit::usage);
    }
    if (!part_.task.empty() && !found_task_) {
        throw Error(fmt::format("--task: no task that ran is named {}{}", for_cell(part_.task),
                                did_you_mean(part_.task, tasks_.names())),
                    Exit::usage);
    }
    if (part_.time.from && part_.time.from->ns > reached_) {
        throw Error(fmt::format("--time: the recording ended at {}, before the range begins",
                                exact_ns(reached_)),
                    Exit::usage);
    }
}

PartStream::Core& PartStream::core(unsigned number) {
    auto& slot = cores_[number & 0xff];
    if (!slot) {
        slot = std::make_unique<Core>();
        slot->number = number & 0xff;
        slot->phase = part_.time.whole() ? Phase::inside : Phase::before;
        slot->is_wanted = wants(slot->number);
    }
    return *slot;
}

void PartStream::begin_within(unsigned number, std::uint32_t context, std::uint64_t clock) {
    core(number);
    follower_.on_trace(
        number, {.first_index = 0, .records = {}, .gap = true, .context = context, .base = clock});
}

void PartStream::on_session(const HelloInfo& hello) {
    clock_hz_ = hello.clock_hz;
    follower_.on_session(hello);
    inner_.on_session(hello);
    has_origin_ = false;
    for (const auto& core : cores_) {
        if (core) core->clock.reset();
    }
}

void PartStream::on_part(PartMark mark, unsigned core, std::uint64_t clock) {
    follower_.on_part(mark, core, clock);
    inner_.on_part(mark, core, clock);
    has_origin_ = true;
}

void PartStream::on_session_end() {
    for (const auto& core : cores_) {
        if (!core) continue;
        if (core->phase == Phase::inside) {
            tell_missing(*core, {}, {});
            tell_clock(*core);
        }
        core->missing.clear();
        core->passed = core->in_tracer = false;
        core->unwound_at.reset();
    }
    follower_.on_session_end();
    inner_.on_session_end();
    ++session_;
    forget_found_tasks();
}

// Times before a gap, a return to another task, and the session's end go up to the core's last
// record, though it was left out.
void PartStream::tell_clock(const Core& core) {
    if (!core.is_wanted || core.passed || !core.clock) return;
    const protocol::StampedRecord last{protocol::make_sync(*core.clock), *core.clock};
    inner_.on_trace(core.number, {.first_index = core.next_index, .records = {&last, 1}});
}

void PartStream::on_missing(unsigned number, const MissingPart& part) {
    Core& core = this->core(number);
    if (core.is_wanted && core.phase != Phase::after) core.missing.push_back(part);
}

// Passes the waiting parts on, each clipped to `begin` and `end`.
void PartStream::tell_missing(Core& core, std::optional<std::uint64_t> begin,
                              std::optional<std::uint64_t> end) {
    for (MissingPart& part : core.missing) {
        if (begin && not_negative(part.to - *begin) == 0) continue;
        if (end && not_negative(*end - part.from) == 0) continue;
        if (begin && not_negative(*begin - part.from) != 0) part.from = *begin;
        if (end && not_negative(part.to - *end) != 0) part.to = *end;
        inner_.on_missing(core.number, part);
    }
    core.missing.clear();
}

void PartStream::on_stats(unsigned core, const protocol::Stats& stats) {
    if (wants(core)) inner_.on_stats(core, stats);
}

// The target's sums are of the whole recording and of all tasks and callers.
bool PartStream::on_profile(unsigned core, const std::uint8_t* payload, std::size_t count) {
    const bool sums_are_of_part = part_.time.whole() && part_.task.empty() && part_.under.empty();
    return !sums_are_of_part || !wants(core) || inner_.on_profile(core, payload, count);
}
bool PartStream::on_profile_events(unsigned core, const std::uint8_t* payload, std::size_t count) {
    const bool sums_are_of_part = part_.time.whole() && part_.task.empty() && part_.under.empty();
    return !sums_are_of_part || !wants(core) || inner_.on_profile_events(core, payload, count);
}

// The clock of the core at `time`, which is not after its record of `clock`, which it has reached.
std::uint64_t PartStream::clock_at(const Core& core, Nanoseconds time, std::uint64_t clock) const {
    const Nanoseconds now = not_negative(follower_.now(core.number) - origin_);
    const std::uint64_t ticks = ns_to_ticks(not_negative(now - time), clock_hz_);
    if (!core.clock) return clock;
    return clock - std::min(ticks, not_negative(clock - *core.clock));
}

void PartStream::cross(Core& core, std::uint64_t clock) {
    const Nanoseconds at = not_negative(follower_.now(core.number) - origin_);
    reached_ = std::max(reached_, at);
    std::optional<std::uint64_t> begin;
    std::optional<std::uint64_t> end;
    if (core.phase == Phase::before && (!part_.time.from || at >= part_.time.from->ns)) {
        begin = part_.time.from ? clock_at(core, part_.time.from->ns, clock) : clock;
        inner_.on_part(PartMark::begin, core.number, *begin);
        core.phase = Phase::inside;
    }
    if (core.phase == Phase::inside && part_.time.to && at >= part_.time.to->ns)
        end = clock_at(core, part_.time.to->ns, clock);
    if (core.phase != Phase::before) tell_missing(core, begin, end);
    if (!end) return;
    inner_.on_part(PartMark::end, core.number, *end);
    core.phase = Phase::after;
}

void PartStream::on_trace(unsigned number, const TraceBatch& batch) {
    Core& core = this->core(number);
    if (batch.gap) {
        const TraceBatch gap{.first_index = batch.first_index,
                             .records = {},
                             .gap = true,
                             .context = batch.context,
                             .base = batch.base};
        follower_.on_trace(number, gap);
        core.in_tracer = false;
        core.unwound_at.reset();
        core.told_switch.reset();
        if (core.phase != Phase::after) {
            tell_clock(core);
            if (core.is_wanted) inner_.on_trace(number, gap);
        }
    }
    std::size_t from = 0;  // of the records that are to be passed on
    const auto pass_on = [&](std::size_t to) {
        if (to != from) {
            inner_.on_trace(number, {.first_index = batch.first_index + from,
                                     .records = batch.records.subspan(from, to - from)});
        }
    };
    if (!batch.records.empty() && !std::exchange(has_origin_, true))
        on_part(PartMark::origin, number, batch.records.front().clock);
    for (std::size_t i = 0; i < batch.records.size(); ++i) {
        const protocol::StampedRecord& record = batch.records[i];
        const std::size_t under_before = under(number);
        const std::uint32_t task_before = core.clock ? follower_.running(number).context : 0;
        is_point_ = false;
        follower_.on_trace(
            number, {.first_index = batch.first_index + i, .records = batch.records.subspan(i, 1)});
        if (core.is_wanted && core.phase != Phase::after) {
            const Phase before = core.phase;
            const bool is_at_end =
                part_.time.to && not_negative(follower_.now(number) - origin_) >= part_.time.to->ns;
            if (before == Phase::before || is_at_end || !core.missing.empty()) {
                pass_on(i);
                from = i;
                cross(core, record.clock);
            }
        }
        const bool is_switch = record.record.kind() == protocol::Kind::ret &&
                               core.phase != Phase::after &&
                               follower_.running(number).context != task_before;
        if (is_switch && !core.passed) tell_clock(core);
        const std::uint64_t clock_before = core.clock.value_or(record.clock);
        core.clock = record.clock;
        core.next_index = batch.first_index + i + 1;
        const bool is_shown = core.is_wanted && core.phase != Phase::after;
        const bool last_passed = core.passed;
        const bool is_passed = passes(core, record, under_before) && is_shown;
        if (const auto unwinding = unwinding_until(core, record);
            unwinding && is_shown && !(last_passed && is_passed)) {
            pass_on(i);
            from = i;
            tell_tracer(core, batch.first_index + i, *unwinding, record.clock);
        }
        if (is_passed) continue;
        pass_on(i);
        from = i + 1;
        // The sink does not get the return, by which it would see that the task has left.
        if (is_switch && is_shown) tell_switch(core, batch.first_index + i, clock_before);
    }
    pass_on(batch.records.size());
}

std::size_t PartStream::under(unsigned number) const {
    if (part_.under.empty() || !cores_[number & 0xff] || !cores_[number & 0xff]->clock) return 0;
    return tracks_[follower_.running(number).number].under;
}

// Text has the time of core 0's last record. Text before its first record has the time 0.
void PartStream::on_console(std::string_view text) {
    const bool begins_at_0 = !part_.time.from || part_.time.from->ns == 0;
    if (cores_[0] ? cores_[0]->phase == Phase::inside : begins_at_0) inner_.on_console(text);
}

bool PartStream::on_tasks(const std::uint8_t* payload, std::size_t count) {
    (void)tasks_.on_frame(session_, payload, count, budget_);
    forget_found_tasks();
    return inner_.on_tasks(payload, count);
}
void PartStream::forget_found_tasks() {
    for (const auto& core : cores_) {
        if (core) core->context.reset();
    }
}

bool PartStream::is_task(Core& core) {
    if (part_.task.empty()) return true;
    const std::uint32_t context = follower_.running(core.number).context;
    if (core.context != context) {
        core.context = context;
        core.is_task = tasks_.is_named(part_.task, session_, core.number, context);
        found_task_ |= core.is_task;
    }
    return core.is_task;
}

// Whether the core's record, which the follower has seen, belongs to the task and the callers.
bool PartStream::passes(Core& core, const protocol::StampedRecord& record,
                        std::size_t under_before) {
    const protocol::Record word = record.record;
    const bool is_extended = word.kind() == protocol::Kind::extended;
    if (is_extended && word.is(protocol::Extended::data)) return core.passed;
    if (is_extended && word.is(protocol::Extended::context) &&
        std::exchange(core.told_switch, std::nullopt) == word.argument())
        return core.passed = false;
    // Without the tracer's work, the switches of tasks and their moves, times would be others.
    if (is_extended &&
        (word.is(protocol::Extended::context) || tells_of_contexts(word) ||
         word.is(protocol::Extended::tracer_begin) || word.is(protocol::Extended::tracer_end))) {
        (void)is_task(core);  // so that its name is found, though it has no other record
        return core.passed = true;
    }
    const auto is_under = [&] {
        return part_.under.empty() || under_before != 0 || is_point_ || under(core.number) != 0;
    };
    return core.passed = is_task(core) && is_under();
}

// After a longjmp the time until the next entry or return is the tracer's. Returns when it began,
// if it ends with `record`.
std::optional<std::uint64_t> PartStream::unwinding_until(Core& core,
                                                         const protocol::StampedRecord& record) {
    const protocol::Event event = protocol::event_of(record, 0);
    if (event.kind == protocol::Kind::extended) {
        if (event.extended == protocol::Extended::tracer_begin) core.in_tracer = true;
        if (event.extended == protocol::Extended::tracer_end) core.in_tracer = false;
        if (core.unwound_at && *core.unwound_at != record.clock) core.unwound_at.reset();
        return std::nullopt;
    }
    const auto began = std::exchange(core.unwound_at, std::nullopt);
    if (event.kind == protocol::Kind::ret && event.unwound && !core.in_tracer)
        core.unwound_at = record.clock;
    return began;
}

// The sink does not get both records that say so: tells it that the tracer worked meanwhile.
void PartStream::tell_tracer(const Core& core, std::uint64_t index, std::uint64_t from,
                             std::uint64_t to) {
    const auto record = [](protocol::Extended what, std::uint64_t clock) {
        return protocol::StampedRecord{protocol::make_extended(what, 0, clock), clock};
    };
    const protocol::StampedRecord records[] = {record(protocol::Extended::tracer_begin, from),
                                               record(protocol::Extended::tracer_end, to)};
    inner_.on_trace(core.number, {.first_index = index, .records = records});
}

// The late record of this switch, which is to come, is not passed on.
void PartStream::tell_switch(Core& core, std::uint64_t index, std::uint64_t clock) {
    const std::uint32_t context = follower_.running(core.number).context;
    const protocol::StampedRecord record{
        protocol::make_extended(protocol::Extended::context, context, clock), clock};
    inner_.on_trace(core.number, {.first_index = index, .records = {&record, 1}});
    core.told_switch = context;
}

void PartStream::on_function(std::uint32_t number, const FunctionPlace& place) {
    if (part_.under.empty() || number >= first_own_function) return;
    if (number >= is_under_.size()) is_under_.resize(number + 1);
    is_under_[number] = names_function(part_.under, place);
    found_function_ |= is_under_[number];
    add_names(names_, place);
}

void PartStream::entry(const Track& track, std::uint32_t function, Nanoseconds) {
    if (part_.under.empty()) return;
    OnTrack& on = tracks_[track.number];
    on.wanted.push_back(function < is_under_.size() && is_under_[function]);
    on.under += on.wanted.back() ? 1 : 0;
}

void PartStream::leave(const Track& track, std::uint32_t, Nanoseconds, Left) {
    if (part_.under.empty()) return;
    OnTrack& on = tracks_[track.number];
    on.under -= on.wanted.back() ? 1 : 0;
    on.wanted.pop_back();
}

void PartStream::point(const Track&, std::uint32_t function, Nanoseconds) {
    is_point_ = function < is_under_.size() && is_under_[function];
}

}  // namespace nopscope::host
