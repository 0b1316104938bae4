// SPDX-License-Identifier: Apache-2.0
#include "host-tools/analysis/timeline/timeline.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "host-tools/analysis/events/task_labels.hpp"

namespace nopscope::host {

void Timeline::on_function(std::uint32_t number, const FunctionPlace& place) {
    if (number >= first_own_function) {
        if (names_.size() < max_names) names_[number] = place.name;
        return;
    }
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
    if (on.depth != 0) cores.leave(core, on.levels[0].function, to.at, Left::returned);
    if (to.to) cores.entry(core, to.to->number, to.at);
}

std::int64_t Timeline::since_origin(Nanoseconds now) {
    if (!started_) [[unlikely]] {
        started_ = true;
        origin_ = now;
    }
    return static_cast<std::int64_t>(now - origin_);
}

void Timeline::begin(OneTrack& on, std::int64_t now) {
    begin_ = std::min(begin_, now);
    on.now = std::max(on.now, now);
}

inline void Timeline::add(OneTrack& on, std::size_t depth, const TimelineCall& call) {
    if (depth >= on.rows.size() && !make_row(on, depth)) [[unlikely]] {
        ++deeper_;
        return;
    }
    rows_.add(on.rows[depth], call);
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
    if (on.depth == 1) begin(on, level.from);
    if (on.depth <= max_depth) on.levels.push_back(level);
}

void Timeline::leave(const Track& track, std::uint32_t function, Nanoseconds now, Left how) {
    OneTrack& on = tracks_[track.number];
    const std::size_t depth = --on.depth;
    const std::int64_t to = static_cast<std::int64_t>(now - origin_);
    on.now = to;
    calls_ += function < first_own_function ? 1 : 0;
    if (depth >= on.levels.size()) [[unlikely]] {
        ++deeper_;
        return;
    }
    const std::int64_t from = on.levels[depth].from;
    add(on, depth, {from, to - from, function, how});
}

void Timeline::point(const Track& track, std::uint32_t function, Nanoseconds now) {
    OneTrack& on = tracks_[track.number];
    const std::int64_t at = since_origin(now);
    begin(on, at);
    ++calls_;
    add(on, on.depth, {at, 0, function, Left::returned, true});
}

void Timeline::whole(const Track& track, std::uint32_t function, Nanoseconds from, Nanoseconds to,
                     std::uint32_t depth) {
    const std::int64_t end = since_origin(to);
    OneTrack& on = tracks_[track.number];
    begin(on, end);
    ++calls_;
    add(on, depth,
        {since_origin(from), static_cast<std::int64_t>(to - from), function, Left::returned});
}

CallList Timeline::calls(std::optional<FunctionSet> functions,
                         const std::optional<std::set<std::int64_t>>& tracks) const {
    std::vector<CallList::Row> rows;
    for (std::uint32_t track = 0; track < tracks_.size(); ++track) {
        if (tracks && !tracks->contains(track)) continue;
        for (std::uint32_t depth = 0; depth < tracks_[track].rows.size(); ++depth)
            rows.push_back({track, depth, tracks_[track].rows[depth]});
    }
    return {rows_, std::move(rows), std::move(functions)};
}

bool Timeline::make_row(OneTrack& on, std::size_t depth) {
    if (depth >= max_depth) return false;
    while (on.rows.size() <= depth) {
        const auto row = rows_.make_row();
        if (!row) return false;
        on.rows.push_back(*row);
    }
    return true;
}

// The time of an event that is not a call.
std::int64_t Timeline::at_event(const Track& track, Nanoseconds now) {
    const std::int64_t at = since_origin(now);
    begin(tracks_[track.number], at);
    return at;
}

void Timeline::mark(const Track& track, std::uint32_t id, Nanoseconds now) {
    const std::int64_t at = at_event(track, now);
    OneTrack& on = tracks_[track.number];
    if (marks_++ >= max_marks) return leave_out(LeftOut::marks);
    on.marks_at.push_back(at);
    on.marks.push_back(id);
}

void Timeline::counter(const Track& track, std::uint32_t id, std::int64_t value, Nanoseconds now) {
    const std::int64_t at = at_event(track, now);
    if (!charts_.add(ChartKind::counter, id, track.core, {at, at, value, value, value}, rows_))
        leave_out(LeftOut::counters);
}

void Timeline::events(const Track& track, std::uint32_t function,
                      std::span<const EventCount> counts, Nanoseconds now) {
    const std::int64_t at = at_event(track, now);
    bool all = true;
    for (const EventCount& one : counts) {
        const auto count = static_cast<std::int64_t>(std::min<std::uint64_t>(one.count, INT64_MAX));
        all &= charts_.add(ChartKind::events, one.number, track.core,
                           {at, at, count, count, count, function}, rows_);
    }
    if (!all) leave_out(LeftOut::events);
}

void Timeline::masked(const Track& track, std::uint32_t function, Nanoseconds from,
                      Nanoseconds to) {
    const std::int64_t at = at_event(track, to);
    const auto length = static_cast<std::int64_t>(to - from);
    if (!charts_.add(ChartKind::masked, 0, track.core,
                     {at - length, at, length, length, length, function}, rows_))
        leave_out(LeftOut::masked);
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
