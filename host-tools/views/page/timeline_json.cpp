// SPDX-License-Identifier: Apache-2.0
// Chooses the part of a timeline that a page shows, and writes it as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "host-tools/base/text.hpp"
#include "host-tools/figures/timeline/timeline_slots.hpp"
#include "host-tools/views/page/html.hpp"

namespace nopscope::host {
namespace {

using OneTrack = Timeline::OneTrack;
using LongCall = Timeline::LongCall;
using Row = Timeline::Row;

// Numbers for what is not a function of the view's list (web/src/model.ts).
enum OtherTime : std::int64_t { tracer = -3, away = -4, unknown = -5 };

// Writes each of some ascending numbers as the distance from the one before, to save digits.
class Ascending {
public:
    std::int64_t operator()(std::int64_t value) { return value - std::exchange(last_, value); }

private:
    std::int64_t last_ = 0;
};

// Slots with more calls than are drawn: how full each is (percent), and how many calls begin in it.
void add_slots(Json& json, const Row& row, const std::vector<std::uint64_t>& kept, unsigned shift) {
    Ascending slot;
    json.update(json_columns({"slot", "busy", "calls"}));
    for (std::size_t at = 0; at < row.size(); ++at) {
        if (row[at].calls <= kept[at]) continue;
        const double share =
            static_cast<double>(row[at].busy) / static_cast<double>(std::uint64_t{1} << shift);
        json["slot"].push_back(slot(static_cast<std::int64_t>(at)));
        json["busy"].push_back(std::min(100l, std::lround(share * 100)));
        json["calls"].push_back(row[at].calls);
    }
}

// What a page shows: slots of the width that its limit allows, and the longest calls.
struct Selection {
    std::vector<std::vector<Row>> rows;  // by track
    unsigned shift = 0;
    std::vector<LongCall> calls;  // by track, depth, time
};

Selection selection(const Timeline& of) {
    constexpr std::size_t most_cells = Timeline::most_cells;
    Selection out;
    out.shift = of.shift();
    out.calls = of.longest();
    const bool has_all =
        of.has_all_calls() && out.calls.size() <= most_cells + Timeline::most_longest;
    if (!has_all) {
        keep_longest(out.calls, std::size_t{Timeline::most_longest});
        for (const OneTrack& on : of.tracks()) {
            auto& rows = out.rows.emplace_back(on.rows);
            auto levels = on.levels;
            for (std::size_t depth = 0; depth < std::min(rows.size(), levels.size()); ++depth) {
                of.settle(levels[depth], rows[depth]);
            }
        }
        const auto used = [&] {
            std::size_t cells = 0;
            for (const auto& rows : out.rows) {
                for (const Row& row : rows) {
                    cells += static_cast<std::size_t>(
                        std::count_if(row.begin(), row.end(),
                                      [](const Timeline::Cell& cell) { return cell.calls != 0; }));
                }
            }
            return cells;
        };
        for (; used() > most_cells; ++out.shift) {
            for (auto& rows : out.rows) {
                for (Row& row : rows) merge_pairs(row, std::max<std::size_t>(1, row.size() / 2));
            }
        }
        for (std::uint32_t track = 0; track < out.rows.size(); ++track) {
            for (std::uint32_t depth = 0; depth < out.rows[track].size(); ++depth) {
                for (const Timeline::Cell& cell : out.rows[track][depth]) {
                    if (cell.calls != 0) out.calls.push_back({track, depth, cell.longest});
                }
            }
        }
    }
    for (std::uint32_t track = 0; track < of.tracks().size(); ++track) {
        const OneTrack& on = of.tracks()[track];
        for (std::uint32_t depth = 0; depth < std::min(on.depth, on.levels.size()); ++depth) {
            const Timeline::Level& open = on.levels[depth];
            out.calls.push_back(
                {track, depth, {open.from, on.now - open.from, open.function, Left::open}});
        }
    }
    const auto order = [](const LongCall& one) {
        return std::tuple(one.track, one.depth, one.call.from, -one.call.duration,
                          one.call.function);
    };
    std::sort(out.calls.begin(), out.calls.end(),
              [&](const LongCall& a, const LongCall& b) { return order(a) < order(b); });
    if (has_all) return out;
    const auto same = [&](const LongCall& a, const LongCall& b) { return order(a) == order(b); };
    out.calls.erase(std::unique(out.calls.begin(), out.calls.end(), same), out.calls.end());
    return out;
}

std::int64_t latest_time(const Timeline& of) {
    std::int64_t latest = of.begin();
    for (const OneTrack& on : of.tracks()) latest = std::max(latest, on.now);
    return latest;
}

Json json_bands(const Timeline& of) {
    Json json = json_columns({"core", "kind", "from", "to", "what"});
    for (const Timeline::Gaps& gaps : of.gaps()) {
        for (const Timeline::Gap& gap : gaps.list) {
            const auto ago = [&](Nanoseconds at) {
                return static_cast<std::int64_t>(at - of.origin()) - of.begin();
            };
            std::string what;
            add_count(what, gap.absence.lost, "records lost");
            add_count(what, gap.absence.overwritten, "records overwritten");
            add_count(what, gap.absence.dropped, "calls and records dropped");
            if (gap.parts > 1) what += fmt::format(", in {} places here", with_commas(gap.parts));
            add_row(json, {gaps.core, gaps.dropped ? "dropped" : "gap", ago(gap.absence.from),
                           ago(gap.absence.to), what});
        }
    }
    return json;
}

Json json_tracks(const Timeline& of, const Selection& shown, const PositionOf& position,
                 std::uint64_t& drawn) {
    auto next = shown.calls.begin();
    Json tracks = Json::array();
    for (std::uint32_t number = 0; number < of.tracks().size(); ++number) {
        const OneTrack& on = of.tracks()[number];
        Json rows = Json::array();
        for (std::uint32_t depth = 0; next != shown.calls.end() && next->track == number; ++depth) {
            Json row = json_columns({"from", "duration", "function", "left"});
            // How many drawn calls begin in each slot.
            std::vector<std::uint64_t> kept(shown.rows.empty() ? 0 : of.slots());
            Ascending from;
            for (; next != shown.calls.end() && next->track == number && next->depth == depth;
                 ++next) {
                const Timeline::Call& call = next->call;
                if (call.how != Left::returned)
                    row["left"].push_back({row["from"].size(), left_text(call.how)});
                row["from"].push_back(from(call.from - of.begin()));
                row["duration"].push_back(call.duration);
                row["function"].push_back(position(call.function));
                drawn += call.function < first_own_function ? 1 : 0;
                const auto slot =
                    static_cast<std::uint64_t>(std::max<std::int64_t>(call.from, 0)) >> shown.shift;
                if (call.how != Left::open && slot < kept.size()) ++kept[slot];
            }
            if (!shown.rows.empty() && depth < shown.rows[number].size()) {
                add_slots(row, shown.rows[number][depth], kept, shown.shift);
            }
            rows.push_back(std::move(row));
        }
        tracks.push_back({{"core", on.track.core},
                          {"context", on.track.context},
                          {"name", for_cell(on.name)},
                          {"rows", std::move(rows)},
                          {"marks", {{"at", Json::array()}, {"id", on.marks}}}});
        for (const std::int64_t at : on.marks_at)
            tracks.back()["marks"]["at"].push_back(at - of.begin());
    }
    return tracks;
}

Json json_scheduler(const Timeline& of) {
    const Timeline* const cores = of.scheduler();
    if (cores == nullptr) return nullptr;
    const Selection shown = selection(*cores);
    std::uint64_t drawn = 0;
    Json json{{"slot", std::uint64_t{1} << shown.shift}, {"slots_from", -cores->begin()}};
    json["since"] =
        static_cast<std::int64_t>(cores->origin() - of.origin()) + cores->begin() - of.begin();
    json["tracks"] = json_tracks(
        *cores, shown, [](std::uint64_t task) { return static_cast<std::int64_t>(task); }, drawn);
    json["tasks"] = json_list(of.tracks(), [](const OneTrack& on) { return for_cell(on.name); });
    return json;
}

}  // namespace

Json timeline_json(const Timeline& of, const PositionOf& position) {
    const Selection shown = selection(of);
    std::uint64_t drawn = 0;
    Json json{{"duration", latest_time(of) - of.begin()},
              {"slot", std::uint64_t{1} << shown.shift},
              {"slots_from", -of.begin()}};
    json["tracks"] = json_tracks(
        of, shown,
        [&](std::uint64_t function) -> std::int64_t {
            if (function == tracer_function) return OtherTime::tracer;
            if (function == away_function) return OtherTime::away;
            const std::uint64_t key = function < of.keys().size() ? of.keys()[function] : 0;
            const std::int64_t at = key != 0 ? position(key) : OtherTime::unknown;
            return at < 0 ? OtherTime::unknown : at;
        },
        drawn);
    json["scheduler"] = json_scheduler(of);
    json["bands"] = json_bands(of);
    json["interrupts"] = Json::array();
    for (const std::uint64_t key : of.keys()) {
        if (key % 2 != 0 && position(key) >= 0) json["interrupts"].push_back(position(key));
    }
    std::uint64_t open = 0;
    for (const OneTrack& on : of.tracks()) {
        for (std::size_t depth = 0; depth < on.depth; ++depth) {
            open +=
                depth >= on.levels.size() || on.levels[depth].function < first_own_function ? 1 : 0;
        }
    }
    json["calls"] = of.calls() + open;
    json["drawn"] = drawn;
    json["deeper"] = of.deeper();
    json["left_out"] = of.left_out();
    json["times"] = times_text(of.is_cut() ? TimeAxis::without_tracer : TimeAxis::wall);
    return json;
}

}  // namespace nopscope::host
