// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "host-tools/base/text.hpp"
#include "host-tools/html/html.hpp"
#include "host-tools/report/json.hpp"

namespace nopscope {
namespace {

// What is no function's (web/src/model.ts).
enum Special : std::int64_t { all = -1, after_gap = -2, beyond_room = -3, too_short = -4 };

struct PathRow {
    std::uint32_t parent = 0;
    std::int64_t function = all;
    std::uint64_t calls = 0;
    std::uint64_t total = 0;
    std::uint64_t self = 0;
};

// Parents first, before and after. What has no room adds to one row for each caller that is kept.
std::vector<PathRow> longest(const std::vector<PathRow>& rows, std::size_t most) {
    std::uint64_t least = 0;
    if (rows.size() > most) {
        std::vector<std::uint64_t> totals;
        for (const PathRow& row : rows) totals.push_back(row.total);
        std::nth_element(totals.begin(), totals.begin() + static_cast<std::ptrdiff_t>(most), totals.end(),
                         std::greater<>());
        least = totals[most] + 1;
    }
    std::vector<PathRow> kept;
    std::vector<std::uint32_t> now(rows.size());  // the row's number, or that of what stands for it
    std::vector<bool> stands(rows.size());        // now[] is of a row of Special::too_short
    std::unordered_map<std::uint32_t, std::uint32_t> rests;  // by caller
    for (std::uint32_t at = 0; at < rows.size(); ++at) {
        const PathRow& row = rows[at];
        const std::uint32_t parent = now[row.parent];
        if (at == 0 || (!stands[row.parent] && row.total >= least)) {
            now[at] = static_cast<std::uint32_t>(kept.size());
            kept.push_back(row);
            kept.back().parent = parent;
            continue;
        }
        stands[at] = true;
        if (stands[row.parent]) {
            now[at] = parent;
        } else {
            const auto [rest, is_new] = rests.try_emplace(parent, static_cast<std::uint32_t>(kept.size()));
            if (is_new) kept.push_back({.parent = parent, .function = too_short});
            now[at] = rest->second;
            kept[now[at]].total += row.total;
        }
        kept[now[at]].calls += row.calls;
        kept[now[at]].self += row.self;
    }
    return kept;
}

Json columns(const std::vector<PathRow>& rows) {
    Json json;
    for (const char* name : {"parent", "function", "calls", "total", "self"}) json[name] = Json::array();
    for (const PathRow& row : rows) {
        json["parent"].push_back(row.parent);
        json["function"].push_back(row.function);
        json["calls"].push_back(row.calls);
        json["total"].push_back(row.total);
        json["self"].push_back(row.self);
    }
    return json;
}

std::vector<PathRow> call_paths(const Report& report, const Profile& profile) {
    std::vector<PathRow> rows;
    for (std::uint32_t at = 0; at < profile.tree().nodes().size(); ++at) {
        const CallTree::Node& node = profile.tree().nodes()[at];
        PathRow row{.parent = node.parent, .function = node.function, .calls = node.calls};
        row.total = report.raw ? ticks_to_ns(node.total_ticks, report.clock_hz)
                               : fixed_to_ns(report.nodes[at].total, report.clock_hz);
        row.self = report.raw ? ticks_to_ns(node.self_ticks, report.clock_hz)
                              : fixed_to_ns(report.nodes[at].self, report.clock_hz);
        if (at == CallTree::root) row.function = all;
        if (at == CallTree::after_gap) row.function = after_gap;
        if (at == CallTree::overflow) row.function = beyond_room;
        rows.push_back(row);
    }
    // The gap's and the root's are what is in them.
    for (std::size_t at = rows.size() - 1; at > CallTree::overflow; --at) {
        if (rows[at].parent == CallTree::after_gap) rows[CallTree::after_gap].total += rows[at].total;
    }
    for (std::size_t at = 1; at < rows.size(); ++at) {
        if (rows[at].parent == CallTree::root) rows[CallTree::root].total += rows[at].total;
    }
    // Where there was neither gap nor overflow their rows say nothing.
    std::vector<std::uint32_t> now(rows.size());
    std::vector<PathRow> used;
    for (std::uint32_t at = 0; at < rows.size(); ++at) {
        const bool pseudo = at == CallTree::after_gap || at == CallTree::overflow;
        if (pseudo && rows[at].total == 0 && rows[at].calls == 0) continue;
        now[at] = static_cast<std::uint32_t>(used.size());
        used.push_back(rows[at]);
        used.back().parent = now[rows[at].parent];
    }
    return used;
}

Json json_sampled(const SampleReport& samples, std::size_t most) {
    std::vector<PathRow> rows;
    for (const SampleNode& node : samples.nodes) {
        rows.push_back({node.parent, rows.empty() ? all : std::int64_t{node.function}, 0, node.total, node.self});
    }
    rows.front().total = samples.count;
    Json json = columns(longest(rows, most));
    json["count"] = samples.count;
    json["cut"] = samples.cut;
    json["names"] = Json::array();
    for (const FunctionPlace& place : samples.places) json["names"].push_back(to_utf8(place.name));
    return json;
}

template <typename Count>
Json json_bins(unsigned bins, std::uint64_t clock_hz, std::uint64_t (*first)(unsigned), Count count) {
    Json json = Json::array();
    unsigned last = bins;
    while (last > 0 && count(last - 1) == 0) --last;
    unsigned at = 0;
    while (at < last && count(at) == 0) ++at;
    for (; at < last; ++at) json.push_back({ticks_to_ns(first(at), clock_hz), count(at)});
    return json;
}

Json json_function(const FunctionRow& row, bool raw) {
    Json notes = Json::array();
    const auto note = [&](std::uint64_t count, const char* what) {
        if (count != 0) notes.push_back(with_commas(count) + " " + what);
    };
    note(row.open, "open at the end");
    note(row.unwound, "left by longjmp or an exception");
    note(row.lost, "ended in a gap");
    note(row.incomplete, "with a gap inside");
    note(row.profiled, "in the target's profile");
    return {{"name", to_utf8(row.name)},
            {"file", to_utf8(row.file)},
            {"line", row.line},
            {"address", hex_address(row.address)},
            {"calls", row.calls},
            {"total", total_of(row, raw)},
            {"self", self_of(row, raw)},
            {"min", row.min_ns ? Json(*row.min_ns) : Json(nullptr)},
            {"max", row.max_ns ? Json(*row.max_ns) : Json(nullptr)},
            {"share", row.share},
            {"notes", std::move(notes)},
            {"bins", Json::array()}};
}

// By the tree's numbers; then those that only the target's profile has.
Json json_functions(const Report& report, const Profile& profile) {
    Json list = Json::array();
    std::unordered_map<std::uint64_t, std::size_t> at;
    for (const FunctionRow& row : report.by_number) {
        at[row.address] = list.size();
        list.push_back(json_function(row, report.raw));
    }
    for (const FunctionRow& row : report.functions) {
        const auto [found, is_new] = at.try_emplace(row.address, list.size());
        if (is_new) list.emplace_back();
        list[found->second] = json_function(row, report.raw);
    }
    for (std::size_t n = 0; n < profile.durations().size(); ++n) {
        list[n]["bins"] = json_bins(DurationBins::count, report.clock_hz, DurationBins::first_of,
                                    [&](unsigned bin) { return profile.durations()[n].calls[bin]; });
    }
    for (const ProfileRow& row : report.profile) {
        const auto [found, is_new] = at.try_emplace(row.address, list.size());
        if (!is_new) continue;  // where both have calls they have been added up
        FunctionRow shown;
        static_cast<FunctionPlace&>(shown) = row;
        shown.calls = row.calls;
        shown.total_ns = row.total_ns;
        shown.self_ns = row.self_ns;
        shown.corrected_total_ns = row.corrected_total_ns;
        shown.corrected_self_ns = row.corrected_self_ns;
        shown.min_ns = row.min_ns;
        shown.max_ns = row.max_ns;
        shown.share = row.share;
        list.push_back(json_function(shown, report.raw));
        list.back()["bins"] = json_bins(
            wire::profile_bins, report.clock_hz, [](unsigned bin) { return bin == 0 ? 0 : std::uint64_t{1} << (bin - 1); },
            [&](unsigned bin) { return row.bins[bin]; });
    }
    return list;
}

std::string complaint(const Integrity& integrity) {
    std::string text = integrity.complete ? "" : "ends early";
    for (const IntegrityItem& item : integrity.items) {
        if (!item.spoils || item.value == 0) continue;
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", item.name, with_commas(item.value));
    }
    return text;
}

Json facts(const Report& report) {
    Json list = Json::array();
    const auto add = [&](const char* name, const std::string& value, bool spoils = false) {
        if (!value.empty()) list.push_back({{"name", name}, {"value", to_utf8(value)}, {"spoils", spoils}});
    };
    add("image", report.image);
    add("build-id", report.build_id);
    add("board", report.board);
    add("cores", std::to_string(report.cores));
    add("clock", fmt::format("{}, {:.3f} MHz", clock_name(report.clock), static_cast<double>(report.clock_hz) / 1e6));
    add("mode", std::string(mode_text(report)));
    add("recorded", human_ns(report.duration_ns));
    add("of it, the tracer's", human_ns(report.tracer_ns));
    add("sessions", std::to_string(report.sessions));
    add("times", overhead_line(report));
    for (const IntegrityItem& item : report.integrity.items) {
        if (item.value != 0) add(item.name, with_commas(item.value), item.spoils);
    }
    for (const MissingRow& row : report.missing) {
        if (list.size() > 200) break;
        add("missing", fmt::format("core {}, {} to {}: {} lost, {} overwritten, {} dropped", row.core,
                                   human_ns(row.from_ns), human_ns(row.to_ns), with_commas(row.lost),
                                   with_commas(row.overwritten), with_commas(row.dropped)),
            true);
    }
    add("markers", text_marks(report));
    add("captured", text_captured(report));
    return list;
}

}  // namespace

std::string view_json(const Report& report, const Profile& profile, const std::string& title,
                      std::size_t most_paths) {
    std::uint64_t calls = 0;
    for (const FunctionRow& row : report.functions) calls += row.calls;
    if (report.functions.empty()) {
        for (const ProfileRow& row : report.profile) calls += row.calls;
    }
    std::string headline = fmt::format("{}{} · {} recorded · {} calls", report.image,
                                       report.board.empty() ? "" : " on " + report.board,
                                       human_ns(report.duration_ns), with_commas(calls));
    if (report.samples.count != 0) headline += " · " + with_commas(report.samples.count) + " samples";
    Json json;
    json["version"] = 1;
    json["title"] = to_utf8(title);
    json["headline"] = to_utf8(headline);
    json["complaint"] = complaint(report.integrity);
    json["facts"] = facts(report);
    json["duration"] = report.duration_ns;
    json["functions"] = json_functions(report, profile);
    json["paths"] = columns(longest(call_paths(report, profile), most_paths));
    json["samples"] = report.samples.count != 0 ? json_sampled(report.samples, most_paths) : Json(nullptr);
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace nopscope
