// SPDX-License-Identifier: Apache-2.0
#include "host-tools/calls/part.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <utility>

#include "host-tools/base/text.hpp"

namespace nopscope::host {
namespace {

constexpr std::uint64_t default_around_ns = 100'000;
constexpr double longest_ns = 4e18;  // 126 years: sums of two times stay below 2^63

auto wrong(const char* option, const std::string& text, const std::string& why) {
    return failure(fmt::format("{} {}: {}", option, for_cell(text), why), Exit::usage);
}

// Fails if the text is neither empty nor a time point.
Result<std::optional<TimePoint>> read_point(std::string_view point, const std::string& text) {
    if (point.empty()) return std::nullopt;
    if (point.front() == '@') {
        TimePoint marker{.from = TimePoint::From::marker};
        const char* const end = point.data() + point.size();
        const auto [last, error] = std::from_chars(point.data() + 1, end, marker.marker);
        if (error != std::errc() || last != end)
            return wrong("--time", text, "a marker is @ and its number, as in @3..@4");
        return marker;
    }
    const bool before_end = point.front() == '-';
    const auto ns = read_time(point.substr(before_end ? 1 : 0));
    if (!ns) {
        return wrong("--time", text,
                     "expected two times with a unit (ns, us, ms, s), as in 10ms..20ms");
    }
    return TimePoint{.from = before_end ? TimePoint::From::end : TimePoint::From::begin, .ns = *ns};
}

std::string point_text(const std::optional<TimePoint>& point) {
    if (!point) return {};
    switch (point->from) {
    case TimePoint::From::begin: return exact_ns(point->ns);
    case TimePoint::From::end: return "-" + exact_ns(point->ns);
    case TimePoint::From::marker: break;
    }
    return fmt::format("@{}", point->marker);
}

}  // namespace

bool TimeRange::needs_bounds() const {
    const auto needs = [](const std::optional<TimePoint>& point) {
        return point && point->from != TimePoint::From::begin;
    };
    return needs(from) || needs(to);
}

std::optional<std::uint64_t> read_time(std::string_view text) {
    const auto value = take_decimal(text);
    if (!value) return std::nullopt;
    for (const auto& [name, ns] :
         {std::pair<std::string_view, double>("ns", 1), {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}) {
        if (text != name) continue;
        if (*value * ns > longest_ns) return std::nullopt;
        return static_cast<std::uint64_t>(std::llround(*value * ns));
    }
    return std::nullopt;
}

Result<TimeRange> read_time_range(const std::string& text) {
    const std::size_t dots = text.find("..");
    if (dots == std::string::npos)
        return wrong("--time", text, "expected FROM..TO, as in 10ms..20ms");
    const std::string_view all = text;
    const auto from = read_point(all.substr(0, dots), text);
    const auto to = read_point(all.substr(dots + 2), text);
    for (const auto* point : {&from, &to}) {
        if (!*point) return std::unexpected(point->error());
    }
    const TimeRange range{*from, *to};
    if (range.whole()) return wrong("--time", text, "give at least one end");
    return range;
}

Result<TimeRange> read_time_around(const std::string& text) {
    const std::size_t comma = text.find(',');
    const auto at = read_time(std::string_view(text).substr(0, comma));
    const auto around = comma == std::string::npos
                            ? default_around_ns
                            : read_time(std::string_view(text).substr(comma + 1));
    if (!at || !around) {
        return wrong(
            "--around", text,
            "expected a time with a unit (ns, us, ms, s), and how much on each side, as in "
            "10.5ms,1ms");
    }
    return TimeRange{TimePoint{.ns = *at - std::min(*at, *around)}, TimePoint{.ns = *at + *around}};
}

std::string part_text(const Part& part) {
    std::string text;
    const auto add = [&](const std::string& more) { text += (text.empty() ? "" : ", ") + more; };
    if (!part.time.whole())
        add(fmt::format("{}..{}", point_text(part.time.from), point_text(part.time.to)));
    if (part.core) add(fmt::format("core {}", *part.core));
    if (!part.task.empty()) add("task " + for_terminal(part.task));
    if (!part.under.empty()) add("under " + for_terminal(part.under));
    return text;
}

}  // namespace nopscope::host
