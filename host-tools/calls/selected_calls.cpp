// SPDX-License-Identifier: Apache-2.0
#include "host-tools/calls/selected_calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "host-tools/base/text.hpp"
#include "host-tools/image/function_names.hpp"

namespace nopscope::host {

std::string selection_text(const CallSelection& selection) {
    if (selection.all()) return {};
    std::string text = "calls";
    if (!selection.function.empty()) text += " of " + for_terminal(selection.function);
    if (selection.least_time != 0) text += " of at least " + exact_ns(selection.least_time);
    return text;
}

SelectedCalls::Core& SelectedCalls::core_of(std::uint32_t core) {
    if (core >= cores_.size()) cores_.resize(core + 1);
    return cores_[core];
}

void SelectedCalls::on_function(std::uint32_t number, const FunctionPlace& place) {
    if (number < first_own_function) {
        if (number >= named_.size()) named_.resize(number + 1);
        named_[number] = names_function(selection_.function, place);
        found_function_ |= named_[number];
    }
    inner_.on_function(number, place);
}

void SelectedCalls::on_track(const Track& track) {
    open_.resize(std::max<std::size_t>(open_.size(), track.number + 1));
    last_is_shown_.resize(open_.size());
    passed_.resize(open_.size());
    core_of_.resize(open_.size());
    core_of_[track.number] = track.core;
    core_of(track.core);
    inner_.on_track(track);
}

void SelectedCalls::pass(Waiting& event) {
    if (event.other) return event.other();
    EndedCall& call = event.call;
    auto& open = passed_[event.track.number];
    if (event.is_entry) {
        open.push_back(++entries_);
        return inner_.entry(event.track, call.function, call.from);
    }
    call.number = open.back();
    open.pop_back();
    call.parent = open.empty() ? 0 : open.back();
    call.depth = static_cast<std::uint32_t>(open.size());
    inner_.leave(event.track, call);
}

void SelectedCalls::add(Core& core, Waiting&& event) {
    if (core.queue.empty() && event.state == State::shown) return pass(event);
    event.program = core.program;
    core.queue.push_back(std::move(event));
}

template <typename Pass>
void SelectedCalls::beside(std::uint32_t number, Pass pass) {
    Core& core = core_of(number);
    if (core.queue.empty()) return pass();
    Waiting event;
    event.other = pass;
    add(core, std::move(event));
}

// Passes on the events in front of the first call that may still be too short.
void SelectedCalls::settle(Core& core) {
    while (!core.queue.empty()) {
        Waiting& next = core.queue.front();
        if (next.state == State::waits && core.program - next.program < selection_.least_time)
            return;
        if (next.state != State::left_out) pass(next);
        core.queue.pop_front();
        ++core.first;
    }
}

// A call that moves to another core with its task counts as long enough. So do those that wait with
// it, and none of its core's calls wait longer than the move.
SelectedCalls::Core& SelectedCalls::run_to(const Track& track, Nanoseconds now) {
    auto& calls = open_[track.number];
    const std::uint32_t before = std::exchange(core_of_[track.number], track.core);
    if (before != track.core && !calls.empty()) {
        pass_all(core_of(before));
        for (Open& call : calls) {
            if (call.state == State::waits) call.state = State::shown;
        }
    }
    Core& core = core_of(track.core);
    core.run_to(now);
    settle(core);
    return core;
}

void SelectedCalls::pass_all(Core& core) {
    for (; !core.queue.empty(); core.queue.pop_front(), ++core.first) {
        if (core.queue.front().state != State::left_out) pass(core.queue.front());
    }
}

void SelectedCalls::entry(const Track& track, std::uint32_t function, Nanoseconds now) {
    Core& core = run_to(track, now);
    core.in_tracer = function == tracer_function;
    const bool is_call = function < first_own_function;
    Open open{.state = State::shown, .number = 0, .is_tracer = core.in_tracer};
    if (is_call && !has_name(function)) {
        open.state = State::left_out;
    } else if (is_call && selection_.least_time != 0) {
        open.state = State::waits;
        open.number = core.first + core.queue.size();
    }
    open_[track.number].push_back(open);
    if (open.state == State::left_out) return;
    Waiting event;
    event.state = open.state;
    event.is_entry = true;
    event.track = track;
    event.call.function = function;
    event.call.from = now;
    add(core, std::move(event));
}

void SelectedCalls::leave(const Track& track, const EndedCall& ended) {
    Core& core = run_to(track, ended.to);
    auto& calls = open_[track.number];
    const Open call = calls.back();
    calls.pop_back();
    core.in_tracer = !calls.empty() && calls.back().is_tracer;
    Waiting event;
    event.track = track;
    event.call = ended;
    event.call.self += call.left_out;
    bool is_shown = call.state != State::left_out;
    if (call.state == State::waits && call.number >= core.first) {
        Waiting& entry = core.queue[call.number - core.first];
        is_shown = core.program - entry.program >= selection_.least_time;
        if (!is_shown) entry.state = State::left_out;
    }
    last_is_shown_[track.number] = is_shown;
    if (is_shown) return add(core, std::move(event));
    if (!calls.empty()) calls.back().left_out += event.call.self;
    settle(core);
}

void SelectedCalls::point(const Track& track, std::uint32_t function, Nanoseconds now) {
    if (!has_name(function) || selection_.least_time != 0) return;  // its time is not known
    beside(track.core, [this, track, function, now] { inner_.point(track, function, now); });
}

void SelectedCalls::whole(const Track& track, std::uint32_t function, Nanoseconds from,
                          Nanoseconds to, std::uint32_t depth) {
    if (!has_name(function) || to - from < selection_.least_time) return;
    beside(track.core, [this, track, function, from, to, depth] {
        inner_.whole(track, function, from, to, depth);
    });
}

void SelectedCalls::absence(std::uint32_t core, const Absence& absence) {
    beside(core, [this, core, absence] { inner_.absence(core, absence); });
}

void SelectedCalls::mark(const Track& track, std::uint32_t id, Nanoseconds now) {
    beside(track.core, [this, track, id, now] { inner_.mark(track, id, now); });
}

void SelectedCalls::counter(const Track& track, std::uint32_t id, std::int64_t value,
                            Nanoseconds now) {
    beside(track.core, [this, track, id, value, now] { inner_.counter(track, id, value, now); });
}

void SelectedCalls::value(const Track& track, const CapturedValue& value, Nanoseconds now) {
    if (!has_name(value.function)) return;
    beside(track.core, [this, track, value, now] { inner_.value(track, value, now); });
}

void SelectedCalls::events(const Track& track, std::uint32_t function,
                           std::span<const EventCount> counts, Nanoseconds now) {
    if (!last_is_shown_[track.number]) return;
    beside(track.core, [this, track, function, copy = std::vector(counts.begin(), counts.end()),
                        now] { inner_.events(track, function, copy, now); });
}

void SelectedCalls::masked(const Track& track, std::uint32_t function, Nanoseconds from,
                           Nanoseconds to) {
    beside(track.core,
           [this, track, function, from, to] { inner_.masked(track, function, from, to); });
}

void SelectedCalls::on_switch(const CoreSwitch& to) {
    beside(to.core, [this, to] { inner_.on_switch(to); });
}

void SelectedCalls::on_ready(const Track& by, const Track& task, Nanoseconds now) {
    beside(by.core, [this, by, task, now] { inner_.on_ready(by, task, now); });
}

void SelectedCalls::sample(const Track& track, std::span<const std::uint32_t> path,
                           Nanoseconds now) {
    beside(track.core, [this, track, copy = std::vector(path.begin(), path.end()), now] {
        inner_.sample(track, copy, now);
    });
}

void SelectedCalls::console(std::string_view bytes, Nanoseconds now) {
    beside(0, [this, copy = std::string(bytes), now] { inner_.console(copy, now); });
}

void SelectedCalls::finish() {
    for (Core& core : cores_) {
        for (Waiting& event : core.queue) {
            if (event.state == State::shown) pass(event);
        }
    }
    inner_.finish();
}

}  // namespace nopscope::host
