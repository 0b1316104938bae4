// SPDX-License-Identifier: Apache-2.0
#include "host-tools/views/text/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "host-tools/base/text.hpp"

namespace nopscope::host {
namespace {

// Appends `value` with `decimals` digits behind a point, right-aligned in `width`.
void append_decimal(std::string& text, std::uint64_t value, unsigned decimals, std::size_t width,
                    bool is_negative = false) {
    char digits[24];
    char* at = digits + sizeof digits;
    for (unsigned n = 0; n < decimals || value != 0 || n == decimals; ++n) {
        if (n == decimals) *--at = '.';
        *--at = static_cast<char>('0' + value % 10);
        value /= 10;
    }
    if (is_negative) *--at = '-';
    const auto length = static_cast<std::size_t>(digits + sizeof digits - at);
    if (length < width) text.append(width - length, ' ');
    text.append(at, length);
}

constexpr std::size_t time_width = 14;      // seconds, 9 decimals
constexpr std::size_t duration_width = 12;  // microseconds, 3 decimals
constexpr std::size_t core_width = 6;
constexpr std::size_t deepest_indent = 100;

std::string task_column(std::string_view name) {
    return fmt::format("  {:<16}", name);  // a longer one is wider
}
const std::string no_task = task_column("");

}  // namespace

ReplayText::Core& ReplayText::core_of(std::uint32_t number) {
    if (number >= cores_.size()) cores_.resize(number + 1);
    return cores_[number];
}

void ReplayText::on_function(std::uint32_t number, const FunctionPlace& place) {
    name(number) = for_cell(place.name);
}

void ReplayText::on_track(const Track& track) {
    open_.resize(std::max<std::size_t>(open_.size(), track.number + 1));
    core_of(track.core);
    if (track.task == nullptr) return;
    tasks_.resize(std::max<std::size_t>(tasks_.size(), track.number + 1), no_task);
    tasks_[track.number] = task_column(for_cell(track.task->label));
}

std::size_t ReplayText::depth_of(const Track& track) const {
    return track.number < open_.size() ? open_[track.number].size() : 0;
}

std::string& ReplayText::begin_line(Core& core, const Track& track, Nanoseconds at,
                                    const Nanoseconds* took, std::size_t depth) {
    Line& line = core.lines.emplace_back(Line{at, {}});
    ++waiting_;
    std::string& text = line.text;
    text.reserve(96);
    // A line or a pipe is read once: its first record need not be the earliest.
    const bool is_before = at < origin_;
    append_decimal(text, is_before ? origin_ - at : at - origin_, 9, time_width, is_before);
    if (took != nullptr) {
        text += ' ';  // also before a time that is wider than its column
        append_decimal(text, *took, 3, duration_width - 1);
        text += " us";
    } else {
        text.append(duration_width + 3, ' ');
    }
    std::string place = std::to_string(track.core);
    if (track.context != 0 && !has_tasks_) place.append("/").append(std::to_string(track.context));
    text.append(place.size() < core_width ? core_width - place.size() : 1, ' ').append(place);
    if (has_tasks_) text.append(track.number < tasks_.size() ? tasks_[track.number] : no_task);
    text.append(2 + 2 * std::min(depth, deepest_indent), ' ');
    return text;
}

// The core's last entry has calls inside, or something else came after it.
void ReplayText::end_entry(Core& core) {
    if (!std::exchange(core.has_entry, false)) return;
    const std::size_t depth = depth_of(core.track) - 1;
    begin_line(core, core.track, open_[core.track.number].back(), nullptr, depth)
        .append(name(core.function))
        .append(" {\n");
}

void ReplayText::entry(const Track& track, std::uint32_t function, Nanoseconds now) {
    Core& core = core_of(track.core);
    end_entry(core);
    auto& calls = open_[track.number];
    calls.push_back(now);
    if (!shows(calls.size() - 1)) return;
    core.has_entry = true;
    core.track = track;
    core.function = function;
    if (waiting_ > most_waiting) write_out(most_waiting);
}

void ReplayText::leave(const Track& track, const EndedCall& call) {
    Core& core = core_of(track.core);
    const bool is_leaf = core.has_entry && core.track.number == track.number;
    if (!is_leaf) end_entry(core);
    core.has_entry = false;
    open_[track.number].pop_back();
    if (!shows(call.depth)) return;
    const Nanoseconds took = call.function == tracer_function ? call.to - call.from : call.duration;
    std::string& text = begin_line(core, track, is_leaf ? call.from : call.to, &took, call.depth);
    text.append(is_leaf ? "" : "} ").append(name(call.function)).append(is_leaf ? "()" : "");
    if (call.how != Left::returned) text.append("  [").append(left_text(call.how)).append("]");
    text += '\n';
}

void ReplayText::point(const Track& track, std::uint32_t function, Nanoseconds now) {
    Core& core = core_of(track.core);
    end_entry(core);
    if (!shows(depth_of(track))) return;
    begin_line(core, track, now, nullptr, depth_of(track)).append(names_[function]).append("\n");
    if (waiting_ > most_waiting) write_out(most_waiting);
}

// Its record comes at its end, after the calls inside.
void ReplayText::whole(const Track& track, std::uint32_t function, Nanoseconds from, Nanoseconds to,
                       std::uint32_t depth) {
    Core& core = core_of(track.core);
    end_entry(core);
    if (!shows(depth)) return;
    const Nanoseconds took = to - from;
    begin_line(core, track, to, &took, depth).append("} ").append(names_[function]).append("\n");
    if (waiting_ > most_waiting) write_out(most_waiting);
}

void ReplayText::comment(const Track& track, Nanoseconds at, std::string_view text) {
    Core& core = core_of(track.core);
    end_entry(core);
    begin_line(core, track, at, nullptr, depth_of(track)).append("# ").append(text).append("\n");
}

void ReplayText::absence(std::uint32_t core, const Absence& absence) {
    std::string what;
    const auto add = [&](std::uint64_t count, const char* how) {
        if (count != 0) what += fmt::format("{}{} {}", what.empty() ? "" : ", ", count, how);
    };
    add(absence.lost, "records lost on the line");
    add(absence.overwritten, "records overwritten");
    add(absence.dropped, "calls dropped");
    comment({.number = ~0u, .core = core, .context = 0}, absence.to,
            fmt::format("missing since {}: {}",
                        exact_ns(absence.from - std::min(absence.from, origin_)), what));
}

void ReplayText::mark(const Track& track, std::uint32_t id, Nanoseconds now) {
    comment(track, now, fmt::format("marker {}", id));
}

void ReplayText::counter(const Track& track, std::uint32_t id, std::int64_t value,
                         Nanoseconds now) {
    comment(track, now, fmt::format("counter {} = {}", id, value));
}

void ReplayText::value(const Track& track, const CapturedValue& value, Nanoseconds now) {
    comment(track, now,
            fmt::format("{} of {} = {}", value.name, names_[value.function], value.value));
}

void ReplayText::sample(const Track& track, std::span<const std::uint32_t> path, Nanoseconds now) {
    std::string text = "sample";
    for (const std::uint32_t function : path) {
        text += function == path.front() ? ": " : " > ";
        text += name(function);
    }
    comment(track, now, text);
}

void ReplayText::console(std::string_view bytes, Nanoseconds now) {
    now = std::max(now, origin_);  // 0: core 0 has no record yet
    while (!bytes.empty()) {
        const std::size_t end = std::min(bytes.find('\n'), bytes.size());
        comment({.number = ~0u, .core = 0, .context = 0}, now,
                "console: " + for_cell(bytes.substr(0, end)));
        bytes.remove_prefix(std::min(end + 1, bytes.size()));
    }
}

void ReplayText::write_head() {
    if (std::exchange(has_head_, true)) return;
    write_(has_tasks_ ? "#      seconds       took us   core  task              call\n"
                      : "#      seconds       took us   core  call\n");
}

// Writes lines in order of time until at most `most` wait.
void ReplayText::write_out(std::size_t most) {
    if (waiting_ > most) write_head();
    while (waiting_ > most) {
        Core* next = nullptr;
        for (Core& core : cores_) {
            if (core.lines.empty()) continue;
            if (next == nullptr || core.lines.front().at < next->lines.front().at) next = &core;
        }
        const Line& line = next->lines.front();
        late_ += line.at < written_ ? 1 : 0;
        written_ = std::max(written_, line.at);
        write_(line.text);
        next->lines.pop_front();
        --waiting_;
    }
}

}  // namespace nopscope::host
