// SPDX-License-Identifier: Apache-2.0
#include "host-tools/figures/timeline/timeline.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "host-tools/calls/task_labels.hpp"
#include "host-tools/figures/timeline/timeline_slots.hpp"

namespace nopscope::host {
namespace {

constexpr std::size_t longest_room = 16384;  // halved when it is full

}  // namespace

void Timeline::on_function(std::uint32_t number, const FunctionPlace& place) {
    if (number >= first_own_function) return;
    if (number >= keys_.size()) keys_.resize(number + 1);
    keys_[number] = key_of(place);
}

void Timeline::on_track(const Track& track) {
    tracks_.resize(std::max<std::size_t>(tracks_.size(), track.number + 1));
    OneTrack& of = tracks_[track.number];
    of.track = track;
    of.track.task = nullptr;
    of.name = track_name(track);
}

void Timeline::name_tasks(const Tasks& tasks) {
    TaskLabels labels(tasks);
    if (!labels.any()) return;
    std::map<std::pair<std::uint32_t, unsigned>, std::set<std::string>> names;
    for (const auto& [key, told] : tasks.contexts())
        names[{key.context, key.core}].insert(labels.of(key.session, key.core, key.context).label);
    for (OneTrack& on : tracks_) {
        const std::uint32_t context = on.track.context;
        const auto found = names.find({context, context == 0 ? on.track.core : 0});
        if (found == names.end() || found->second.size() != 1) continue;
        on.name = *found->second.begin();
        has_names_ = true;
    }
}

// A core is left before it runs another task.
void Timeline::on_switch(const CoreSwitch& to) {
    if (!has_names_ && !expects_names_) return;
    if (scheduler_.empty()) scheduler_.emplace_back();
    Timeline& cores = scheduler_.front();
    while (cores.tracks_.size() <= to.core) {
        const auto number = static_cast<std::uint32_t>(cores.tracks_.size());
        cores.on_track({.number = number, .core = number});
    }
    const Track& core = cores.tracks_[to.core].track;
    OneTrack& on = cores.tracks_[to.core];
    if (on.depth != 0) cores.leave(core, {.function = on.levels[0].function, .to = to.at});
    if (to.to) cores.entry(core, to.to->number, to.at);
}

std::int64_t Timeline::since_origin(Nanoseconds now) {
    if (!started_) [[unlikely]] {
        started_ = true;
        origin_ = now;
    }
    return static_cast<std::int64_t>(now - origin_);
}

void Timeline::extend(OneTrack& on, std::int64_t now) {
    begin_ = std::min(begin_, now);
    on.now = std::max(on.now, now);
}

void Timeline::entry(const Track& track, std::uint32_t function, Nanoseconds now) {
    const std::int64_t from = since_origin(now);
    OneTrack& on = tracks_[track.number];
    const std::size_t depth = on.depth++;
    if (depth < on.levels.size()) [[likely]] {
        on.levels[depth].from = from;
        on.levels[depth].function = function;
    } else {
        begin_deeper(on, {.from = from, .function = function});
    }
}

void Timeline::begin_deeper(OneTrack& on, const Level& level) {
    if (on.depth == 1) extend(on, level.from);
    if (on.depth <= max_depth) on.levels.push_back(level);
}

void Timeline::leave(const Track& track, const EndedCall& call) {
    OneTrack& on = tracks_[track.number];
    const std::size_t depth = --on.depth;
    const std::int64_t to = static_cast<std::int64_t>(call.to - origin_);
    on.now = to;
    calls_ += call.function < first_own_function ? 1 : 0;
    if (depth >= on.levels.size()) [[unlikely]] {
        ++deeper_;
        return;
    }
    Level& level = on.levels[depth];
    const std::int64_t duration = to - level.from;
    if (duration <= level.limit && level.from >= level.begin && to < level.end) [[likely]] {
        ++level.calls;
        level.busy += static_cast<std::uint64_t>(duration);
        return;
    }
    add(track.number, depth, {level.from, duration, call.function, call.how});
}

void Timeline::point(const Track& track, std::uint32_t function, Nanoseconds now) {
    OneTrack& on = tracks_[track.number];
    const std::int64_t at = since_origin(now);
    extend(on, at);
    ++calls_;
    add(track.number, on.depth, {at, 0, function, Left::returned});
}

void Timeline::whole(const Track& track, std::uint32_t function, Nanoseconds from, Nanoseconds to,
                     std::uint32_t depth) {
    const std::int64_t end = since_origin(to);
    extend(tracks_[track.number], end);
    ++calls_;
    add(track.number, depth,
        {since_origin(from), static_cast<std::int64_t>(to - from), function, Left::returned});
}

void Timeline::add(std::uint32_t number, std::size_t depth, const Call& call) {
    OneTrack& on = tracks_[number];
    if (depth >= on.rows.size() && !make_row(on, depth)) {
        ++deeper_;
        return;
    }
    const std::int64_t to = call.from + call.duration;
    while ((std::max<std::int64_t>(to, 0) >> shift_) >= static_cast<std::int64_t>(slots_))
        widen(slots_);
    Row& row = on.rows[depth];
    const std::int64_t slot = std::max<std::int64_t>(call.from, 0) >> shift_;
    Cell& cell = row[static_cast<std::size_t>(slot)];
    ++cell.calls;
    if (call.duration > cell.longest.duration) cell.longest = call;
    spread(row, call.from, to);
    if (call.duration > threshold_) keep(number, depth, call);
    if (depth >= on.levels.size()) return;
    Level& level = on.levels[depth];
    settle(level, row);
    level.begin = slot << shift_;
    level.end = (slot + 1) << shift_;
    level.limit = std::min(cell.longest.duration, threshold_);
}

void Timeline::settle(Level& level, Row& row) const {
    if (level.calls == 0) return;
    Cell& cell = row[static_cast<std::size_t>(level.begin >> shift_)];
    cell.busy += std::exchange(level.busy, 0);
    cell.calls += std::exchange(level.calls, 0);
}

// Adds the time to each slot that it lies in. Calls of a row do not overlap: calls + slots steps.
void Timeline::spread(Row& row, std::int64_t from, std::int64_t to) const {
    from = std::max<std::int64_t>(from, 0);
    while (from < to) {
        const std::int64_t slot = from >> shift_;
        const std::int64_t end = std::min(to, (slot + 1) << shift_);
        row[static_cast<std::size_t>(slot)].busy += static_cast<std::uint64_t>(end - from);
        from = end;
    }
}

void Timeline::keep(std::uint32_t track, std::size_t depth, const Call& call) {
    longest_.push_back({track, static_cast<std::uint32_t>(depth), call});
    if (longest_.size() < longest_room) return;
    keep_longest(longest_, longest_room / 2);
    threshold_ = std::min_element(longest_.begin(), longest_.end(),
                                  [](const LongCall& a, const LongCall& b) {
                                      return a.call.duration < b.call.duration;
                                  })
                     ->call.duration;
}

bool Timeline::make_row(OneTrack& on, std::size_t depth) {
    const std::size_t more = depth + 1 - on.rows.size();
    if (depth >= max_depth || rows_ + more > max_rows) return false;
    rows_ += more;
    while (rows_ * slots_ > max_cells) widen(slots_ / 2);
    on.rows.resize(depth + 1, Row(slots_));
    return true;
}

void Timeline::widen(std::size_t slots) {
    for (OneTrack& on : tracks_) {
        for (std::size_t depth = 0; depth < on.rows.size(); ++depth) {
            if (depth < on.levels.size()) {
                settle(on.levels[depth], on.rows[depth]);
                on.levels[depth].limit = -1;
            }
            merge_pairs(on.rows[depth], slots);
        }
    }
    slots_ = slots;
    ++shift_;
}

void Timeline::mark(const Track& track, std::uint32_t id, Nanoseconds now) {
    const std::int64_t at = since_origin(now);
    OneTrack& on = tracks_[track.number];
    extend(on, at);
    if (marks_++ >= max_marks) return leave_out(LeftOut::marks);
    on.marks_at.push_back(at);
    on.marks.push_back(id);
}

void Timeline::absence(std::uint32_t core, const Absence& absence) {
    const bool dropped = absence.lost == 0 && absence.overwritten == 0;
    const auto found = std::find_if(gaps_.begin(), gaps_.end(), [&](const Gaps& gaps) {
        return gaps.core == core && gaps.dropped == dropped;
    });
    Gaps& gaps = found != gaps_.end() ? *found : gaps_.emplace_back(Gaps{core, dropped, {}});
    gaps.list.push_back({.absence = absence});
    if (++absences_ <= max_absences) return;
    // Halves the largest list: joins the absences with the shortest times between them.
    Gaps& largest = *std::max_element(gaps_.begin(), gaps_.end(), [](const Gaps& a, const Gaps& b) {
        return a.list.size() < b.list.size();
    });
    auto& list = largest.list;
    absences_ -= list.size();
    std::vector<Nanoseconds> between;
    for (std::size_t at = 1; at < list.size(); ++at)
        between.push_back(list[at].absence.from - list[at - 1].absence.to);
    const auto middle = between.begin() + static_cast<std::ptrdiff_t>(between.size() / 2);
    std::nth_element(between.begin(), middle, between.end());
    const Nanoseconds most = between.empty() ? 0 : *middle;
    std::vector<Gap> fewer{list.front()};
    bool every_second = false;  // of those that are exactly `most` apart
    for (std::size_t at = 1; at < list.size(); ++at) {
        Gap& last = fewer.back();
        const Gap& next = list[at];
        const Nanoseconds apart = next.absence.from - last.absence.to;
        if (apart == most) every_second = !every_second;
        if (apart > most || (apart == most && !every_second)) {
            fewer.push_back(next);
            continue;
        }
        last.parts += next.parts;
        last.absence.to = next.absence.to;
        last.absence.lost += next.absence.lost;
        last.absence.overwritten += next.absence.overwritten;
        last.absence.dropped += next.absence.dropped;
    }
    list = std::move(fewer);
    absences_ += list.size();
}

}  // namespace nopscope::host
