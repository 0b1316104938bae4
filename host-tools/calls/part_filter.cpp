// SPDX-License-Identifier: Apache-2.0
#include "host-tools/calls/part_filter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "host-tools/base/text.hpp"
#include "host-tools/calls/function_table.hpp"
#include "host-tools/image/function_names.hpp"

namespace nopscope::host {

Result<PartFilter> PartFilter::of(Part part, std::function<const Symbols*()> symbols, Tasks tasks) {
    if (part.time.from && part.time.to && part.time.from->ns >= part.time.to->ns)
        return failure("--time: its end is not after its begin", Exit::usage);
    PartFilter filter;
    filter.part_ = std::move(part);
    filter.symbols_ = std::move(symbols);
    filter.tasks_ = std::move(tasks);
    return filter;
}

bool PartFilter::wants_site(std::uint32_t offset) {
    const auto [at, is_new] = wanted_.try_emplace(offset);
    if (!is_new) return at->second;
    const Symbols* const symbols = symbols_();
    const FunctionPlace place =
        is_interrupt(offset)
            ? interrupt_place(offset)
            : place_of(base_ + offset,
                       symbols != nullptr ? symbols->find(base_ + offset) : nullptr);
    add_names(names_, place);
    at->second = names_function(part_.under, place);
    found_function_ |= at->second;
    return at->second;
}

Result<> PartFilter::check() const {
    if (part_.core && !cores_[*part_.core & 0xff]) {
        std::string list;
        for (std::size_t core = 0; core < cores_.size(); ++core) {
            if (cores_[core]) list += fmt::format("{}{}", list.empty() ? "" : ", ", core);
        }
        return failure(fmt::format("--core {}: the recording has no records of it, only of {}",
                                   *part_.core, list.empty() ? "none" : list),
                       Exit::usage);
    }
    if (selects() && !found_function_) {
        return failure(fmt::format("--under: no function that was called is named {}{}",
                                   for_cell(part_.under), did_you_mean(part_.under, names_)),
                       Exit::usage);
    }
    if (has_tasks() && !found_task_) {
        return failure(fmt::format("--task: no task that ran is named {}{}", for_cell(part_.task),
                                   did_you_mean(part_.task, tasks_.names())),
                       Exit::usage);
    }
    if (from() > reached_) {
        return failure(fmt::format("--time: the recording ended at {}, before the range begins",
                                   exact_ns(reached_)),
                       Exit::usage);
    }
    return {};
}

void RecordingBounds::mark(const Track&, std::uint32_t id, Nanoseconds now) {
    reach(now);
    if (marks_.size() < max_marks) marks_.push_back({id, now - std::min(now, origin_)});
}

Result<TimeRange> RecordingBounds::resolved(const TimeRange& range) const {
    std::vector<Mark> marks = marks_;
    std::stable_sort(marks.begin(), marks.end(),
                     [](const Mark& a, const Mark& b) { return a.at < b.at; });
    const auto at = [&](const TimePoint& point, Nanoseconds not_before) -> Result<TimePoint> {
        const Nanoseconds length = end_ - origin_;
        switch (point.from) {
        case TimePoint::From::begin: return point;
        case TimePoint::From::end: return TimePoint{.ns = length - std::min(length, point.ns)};
        case TimePoint::From::marker: break;
        }
        const auto found = std::find_if(marks.begin(), marks.end(), [&](const Mark& mark) {
            return mark.id == point.marker && mark.at >= not_before;
        });
        if (found != marks.end()) return TimePoint{.ns = found->at};
        return failure(fmt::format("--time: the recording has no marker {}{}", point.marker,
                                   not_before != 0 ? " after the range's begin" : ""),
                       Exit::usage);
    };
    TimeRange result;
    if (range.from) {
        const auto from = at(*range.from, 0);
        if (!from) return std::unexpected(from.error());
        result.from = *from;
    }
    if (range.to) {
        const bool both_are_markers = range.from && range.from->from == TimePoint::From::marker;
        const auto to = at(*range.to, both_are_markers ? result.from->ns + 1 : 0);
        if (!to) return std::unexpected(to.error());
        result.to = *to;
    }
    return result;
}

}  // namespace nopscope::host
