// SPDX-License-Identifier: Apache-2.0
// Chooses the part of a timeline that a page shows, and writes it as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>

#include "host-tools/analysis/report/table.hpp"
#include "host-tools/analysis/timeline/timeline.hpp"
#include "host-tools/base/text.hpp"
#include "host-tools/image/arch/pmu_events.hpp"

namespace nopscope::host {
namespace {

// Numbers for what is not a function of the view's list (web/src/model.ts).
enum Special : std::int64_t { tracer = -3, away = -4, unknown = -5, first_named = -100 };

// Writes each of some ascending numbers as the distance from the one before, to save digits.
class Ascending {
public:
    std::int64_t operator()(std::int64_t value) { return value - std::exchange(last_, value); }

private:
    std::int64_t last_ = 0;
};

// JavaScript's numbers are exact to 2^53 only.
Json exact(std::int64_t value) {
    constexpr std::int64_t most = std::int64_t{1} << 53;
    if (value < -most || value > most) return std::to_string(value);
    return value;
}

const char* chart_kind(ChartKind kind) {
    switch (kind) {
    case ChartKind::masked: return "masked";
    case ChartKind::counter: return "counter";
    case ChartKind::events: return "events";
    }
    return "unknown";
}

std::string chart_name(const Chart& chart) {
    switch (chart.kind) {
    case ChartKind::masked: return "interrupts masked";
    case ChartKind::counter: return fmt::format("counter {}", chart.id);
    case ChartKind::events: return event_name(chart.id) + " each call";
    }
    return "unknown";
}

// Slots with more calls than are drawn: how full each is (percent), and how many calls begin in it.
void add_slots(Json& json, const std::vector<TimelineCell>& row,
               const std::vector<std::uint64_t>& kept, std::int64_t width) {
    Ascending slot;
    json.update(json_columns({"slot", "busy", "calls"}));
    for (std::size_t at = 0; at < row.size(); ++at) {
        if (row[at].calls <= kept[at]) continue;
        const double share = static_cast<double>(row[at].busy) / static_cast<double>(width);
        json["slot"].push_back(slot(static_cast<std::int64_t>(at)));
        json["busy"].push_back(std::min(100l, std::lround(share * 100)));
        json["calls"].push_back(row[at].calls);
    }
}

std::int64_t width_of(const TimelineSlots& slots, std::size_t count) {
    const auto length = static_cast<std::uint64_t>(slots.to - slots.from);
    return static_cast<std::int64_t>((length + count - 1) / count);
}

// Doubles the width of the slots.
void merge_pairs(std::vector<TimelineCell>& row) {
    for (std::size_t at = 1; at < row.size(); at += 2) {
        TimelineCell& cell = row[at - 1];
        cell.busy += row[at].busy;
        cell.calls += row[at].calls;
        if (row[at].longest.duration > cell.longest.duration) cell.longest = row[at].longest;
        row[at / 2] = cell;
    }
    if (row.size() % 2 != 0) row[row.size() / 2] = row.back();
    row.resize((row.size() + 1) / 2);
}

// Keeps the `most` longest calls, in any order; of equally long ones the first.
template <typename Calls>
void keep_longest(Calls& calls, std::size_t most) {
    if (calls.size() <= most) return;
    const auto order = [](const auto& one) {
        return std::tuple(-one.call.duration, one.track, one.depth, one.call.from,
                          one.call.function);
    };
    std::nth_element(calls.begin(), calls.begin() + static_cast<std::ptrdiff_t>(most), calls.end(),
                     [&](const auto& a, const auto& b) { return order(a) < order(b); });
    calls.resize(most);
}

}  // namespace

// False: there are more than `most` calls, or not all are kept.
bool Timeline::take_all(Selection& selection, std::size_t most) const {
    const auto [from, to, width] = selection.slots;
    std::uint64_t calls = 0;
    for (const OneTrack& on : tracks_) {
        for (const std::uint32_t row : on.rows) {
            const auto more = rows_.count(row, from, to);
            if (!more || (calls += *more) > most) return false;
        }
    }
    std::vector<TimelineCall> list;
    for (std::uint32_t track = 0; track < tracks_.size(); ++track) {
        for (std::uint32_t depth = 0; depth < tracks_[track].rows.size(); ++depth) {
            rows_.read(tracks_[track].rows[depth], from, to, list);
            for (const TimelineCall& call : list) selection.calls.push_back({track, depth, call});
            list.clear();
        }
    }
    return true;
}

void Timeline::take_cells(Selection& selection, const Picture& picture) const {
    // Many rows get fewer slots.
    std::size_t rows_with_calls = 0;
    for (const OneTrack& on : tracks_) {
        for (const std::uint32_t row : on.rows)
            rows_with_calls += rows_.any(row, selection.slots.from, selection.slots.to) ? 1 : 0;
    }
    while (rows_with_calls * selection.slots.count() > 16 * picture.most_cells &&
           selection.slots.count() > 1)
        selection.slots.width *= 2;
    // Shorter calls are drawn only if they are the longest of their slot.
    const std::int64_t least = std::max<std::int64_t>(1, selection.slots.width / 16);
    std::size_t used = 0;
    std::vector<TimelineCall> list;
    for (std::uint32_t track = 0; track < tracks_.size(); ++track) {
        auto& rows = selection.cells.emplace_back();
        for (std::uint32_t depth = 0; depth < tracks_[track].rows.size(); ++depth) {
            auto& cells = rows.emplace_back();
            if (!rows_.any(tracks_[track].rows[depth], selection.slots.from, selection.slots.to))
                continue;
            cells.resize(selection.slots.count());
            rows_.draw(tracks_[track].rows[depth], selection.slots, least, cells, list);
            for (const TimelineCall& call : list) selection.calls.push_back({track, depth, call});
            list.clear();
            // A row without calls takes no memory.
            const auto calls = static_cast<std::size_t>(
                std::count_if(cells.begin(), cells.end(),
                              [](const TimelineCell& cell) { return cell.calls != 0; }));
            if (calls == 0) std::vector<TimelineCell>().swap(cells);
            used += calls;
        }
    }
    keep_longest(selection.calls, picture.most_longest);
    while (used > picture.most_cells && selection.slots.count() > 1) {
        used = 0;
        for (auto& rows : selection.cells) {
            for (auto& cells : rows) {
                merge_pairs(cells);
                used += static_cast<std::size_t>(
                    std::count_if(cells.begin(), cells.end(),
                                  [](const TimelineCell& cell) { return cell.calls != 0; }));
            }
        }
        selection.slots.width *= 2;
    }
    for (std::uint32_t track = 0; track < selection.cells.size(); ++track) {
        for (std::uint32_t depth = 0; depth < selection.cells[track].size(); ++depth) {
            for (const TimelineCell& cell : selection.cells[track][depth]) {
                if (cell.longest.duration >= 0)
                    selection.calls.push_back({track, depth, cell.longest});
            }
        }
    }
}

Timeline::Selection Timeline::selection(const Picture& picture) const {
    const std::int64_t end = now() + 1;  // behind the last call
    Selection out;
    out.slots.from = begin_ + picture.from;
    out.slots.to = picture.to == 0 ? end : std::min(end, begin_ + picture.to);
    out.slots.to = std::max(out.slots.to, out.slots.from + 1);
    out.slots.width = width_of(out.slots, picture.slots);
    if (!take_all(out, picture.most_cells + picture.most_longest)) take_cells(out, picture);
    for (std::uint32_t track = 0; track < tracks_.size(); ++track) {
        const OneTrack& on = tracks_[track];
        for (std::uint32_t depth = 0; depth < std::min(on.depth, on.levels.size()); ++depth) {
            const Level& open = on.levels[depth];
            if (open.from >= out.slots.to || on.now < out.slots.from) continue;
            out.calls.push_back(
                {track, depth, {open.from, on.now - open.from, open.function, Left::open}});
        }
    }
    const auto order = [](const PlacedCall& one) {
        return std::tuple(one.track, one.depth, one.call.from, -one.call.duration,
                          one.call.function);
    };
    std::sort(out.calls.begin(), out.calls.end(),
              [&](const PlacedCall& a, const PlacedCall& b) { return order(a) < order(b); });
    if (out.cells.empty()) return out;
    const auto same = [&](const PlacedCall& a, const PlacedCall& b) {
        return order(a) == order(b);
    };
    out.calls.erase(std::unique(out.calls.begin(), out.calls.end(), same), out.calls.end());
    return out;
}

std::int64_t Timeline::now() const {
    std::int64_t latest = begin_;
    for (const OneTrack& on : tracks_) latest = std::max(latest, on.now);
    return latest;
}

Json Timeline::json_bands() const {
    Json json = json_columns({"core", "kind", "from", "to", "what"});
    for (const Gaps& gaps : gaps_) {
        for (const Gap& gap : gaps.list) {
            const auto ago = [&](Nanoseconds at) {
                return static_cast<std::int64_t>(at - origin_) - begin_;
            };
            std::string what;
            add_count(what, gap.absence.lost, "records lost");
            add_count(what, gap.absence.overwritten, "records overwritten");
            add_count(what, gap.absence.dropped, "calls and records dropped");
            if (gap.parts > 1) what += fmt::format(", in {} places here", with_commas(gap.parts));
            json["core"].push_back(gaps.core);
            json["kind"].push_back(gaps.dropped ? "dropped" : "gap");
            json["from"].push_back(ago(gap.absence.from));
            json["to"].push_back(ago(gap.absence.to));
            json["what"].push_back(what);
        }
    }
    return json;
}

Json Timeline::json_tracks(const Selection& shown, const PositionOf& position,
                           std::uint64_t& drawn) const {
    auto next = shown.calls.begin();
    Json tracks = Json::array();
    for (std::uint32_t number = 0; number < tracks_.size(); ++number) {
        const OneTrack& on = tracks_[number];
        Json rows = Json::array();
        for (std::uint32_t depth = 0; next != shown.calls.end() && next->track == number; ++depth) {
            Json row = json_columns({"from", "duration", "function", "left"});
            // How many drawn calls begin in each slot.
            const auto* const cells =
                number < shown.cells.size() && depth < shown.cells[number].size()
                    ? &shown.cells[number][depth]
                    : nullptr;
            std::vector<std::uint64_t> kept(cells != nullptr ? cells->size() : 0);
            Ascending from;
            for (; next != shown.calls.end() && next->track == number && next->depth == depth;
                 ++next) {
                const TimelineCall& call = next->call;
                if (call.how != Left::returned)
                    row["left"].push_back({row["from"].size(), left_text(call.how)});
                row["from"].push_back(from(call.from - begin_));
                row["duration"].push_back(call.duration);
                row["function"].push_back(position(call.function));
                drawn += call.function < first_own_function ? 1 : 0;
                if (call.from < shown.slots.from || call.how == Left::open) continue;
                const auto slot =
                    static_cast<std::size_t>((call.from - shown.slots.from) / shown.slots.width);
                if (slot < kept.size()) ++kept[slot];
            }
            if (cells != nullptr) add_slots(row, *cells, kept, shown.slots.width);
            rows.push_back(std::move(row));
        }
        tracks.push_back({{"core", on.track.core},
                          {"context", on.track.context},
                          {"name", for_cell(on.name)},
                          {"depth", std::max(on.rows.size(), on.levels.size())},
                          {"rows", std::move(rows)},
                          {"marks", {{"at", Json::array()}, {"id", on.marks}}}});
        for (const std::int64_t at : on.marks_at)
            tracks.back()["marks"]["at"].push_back(at - begin_);
    }
    return tracks;
}

Json Timeline::json_scheduler(const Picture& picture) const {
    if (!has_names_ || scheduler_.empty()) return nullptr;
    const Timeline& cores = scheduler_.front();
    const auto since = static_cast<std::int64_t>(cores.origin_ - origin_) + cores.begin_ - begin_;
    Picture of = picture;
    of.from -= since;
    if (of.to != 0) of.to = std::max<std::int64_t>(1, of.to - since);
    const Selection shown = cores.selection(of);
    std::uint64_t drawn = 0;
    Json json{{"slot", shown.slots.width}, {"slots_from", shown.slots.from - cores.begin_}};
    json["since"] = since;
    json["tracks"] = cores.json_tracks(
        shown, [](std::uint64_t task) { return static_cast<std::int64_t>(task); }, drawn);
    json["tasks"] = Json::array();
    for (const OneTrack& on : tracks_) json["tasks"].push_back(for_cell(on.name));
    return json;
}

Json Timeline::json_charts(const TimelineSlots& slots, std::size_t most,
                           const PositionOf& position) const {
    const ChartPicture shown = charts_.picture(slots, most);
    Json json{{"all", shown.all}, {"slot", shown.slot}};
    Json& names = json["names"] = Json::array();
    std::map<std::uint32_t, std::int64_t> numbers;  // of functions in `names`
    const auto number = [&](std::uint32_t function) {
        const std::int64_t listed = number_of(function, position);
        const auto name = names_.find(function);
        if (listed != Special::unknown || name == names_.end()) return listed;
        const auto next = Special::first_named - static_cast<std::int64_t>(names.size());
        const auto [at, is_new] = numbers.try_emplace(function, next);
        if (is_new) names.push_back(for_cell(name->second));
        return at->second;
    };
    json["charts"] = Json::array();
    for (const Chart& chart : shown.charts) {
        Json of{{"kind", chart_kind(chart.kind)}, {"core", chart.core ? Json(*chart.core) : Json()},
                {"name", chart_name(chart)},      {"least", exact(chart.least)},
                {"most", exact(chart.most)},      {"records", chart.records}};
        of.update(json_columns({"from", "last"}));
        if (chart.kind != ChartKind::counter) of["function"] = Json::array();
        const bool has_joined = std::any_of(chart.points.begin(), chart.points.end(),
                                            [](const auto& point) { return point.records > 1; });
        if (has_joined) of.update(json_columns({"duration", "min", "max", "joined"}));
        Ascending from;
        for (const ChartPoint& point : chart.points) {
            of["from"].push_back(from(point.from - begin_));
            of["last"].push_back(exact(point.last));
            if (chart.kind != ChartKind::counter) of["function"].push_back(number(point.function));
            if (!has_joined) continue;
            of["duration"].push_back(point.to - point.from);
            of["min"].push_back(exact(point.least));
            of["max"].push_back(exact(point.most));
            of["joined"].push_back(point.records);
        }
        json["charts"].push_back(std::move(of));
    }
    return json;
}

std::int64_t Timeline::number_of(std::uint64_t function, const PositionOf& position) const {
    if (function == tracer_function) return Special::tracer;
    if (function == away_function) return Special::away;
    const std::uint64_t key =
        function < keys_.size() ? keys_[static_cast<std::size_t>(function)] : 0;
    const std::int64_t at = key != 0 ? position(key) : Special::unknown;
    return at < 0 ? Special::unknown : at;
}

FunctionSet Timeline::functions_of(const std::set<std::int64_t>& numbers,
                                   const PositionOf& position) const {
    FunctionSet functions;
    const auto add = [&](std::uint32_t function) {
        if (numbers.contains(number_of(function, position))) functions.add(function);
    };
    for (std::uint32_t function = 0; function < keys_.size(); ++function) add(function);
    add(tracer_function);
    add(away_function);
    return functions;
}

Json Timeline::json(const PositionOf& position, const Picture& picture) const {
    const Selection shown = selection(picture);
    std::uint64_t drawn = 0;
    Json json{{"duration", now() - begin_},
              {"origin", -begin_},
              {"from", shown.slots.from - begin_},
              {"to", shown.slots.to - begin_},
              {"all", shown.cells.empty()},
              {"slot", shown.slots.width},
              {"slots_from", shown.slots.from - begin_}};
    json["tracks"] = json_tracks(
        shown, [&](std::uint64_t function) { return number_of(function, position); }, drawn);
    json["scheduler"] = json_scheduler(picture);
    json["bands"] = json_bands();
    TimelineSlots slots = shown.slots;  // not as wide as the calls need
    slots.width = width_of(slots, picture.slots);
    json["charts"] = json_charts(slots, picture.most_cells, position);
    json["interrupts"] = Json::array();
    for (const std::uint64_t key : keys_) {
        if (key % 2 != 0 && position(key) >= 0) json["interrupts"].push_back(position(key));
    }
    std::uint64_t open = 0;
    for (const OneTrack& on : tracks_) {
        for (std::size_t depth = 0; depth < on.depth; ++depth) {
            open +=
                depth >= on.levels.size() || on.levels[depth].function < first_own_function ? 1 : 0;
        }
    }
    json["calls"] = calls_ + open;
    json["drawn"] = drawn;
    json["deeper"] = deeper_;
    json["summed"] = rows_.forgotten();
    json["left_out"] = left_out();
    json["cut"] = cut_;
    json["times"] = times_text(cut_ ? TimeAxis::without_tracer : TimeAxis::wall);
    return json;
}

}  // namespace nopscope::host
