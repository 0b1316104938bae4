// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <unordered_map>
#include <unordered_set>

#include "host-tools/base/text.hpp"
#include "host-tools/figures/function_queries/function_queries.hpp"
#include "host-tools/figures/report/tree.hpp"
#include "host-tools/views/json/report.hpp"
#include "host-tools/views/page/html.hpp"
#include "host-tools/views/text/head.hpp"
#include "host-tools/views/text/table.hpp"

namespace nopscope::host {
namespace {

using Positions = std::unordered_map<std::uint64_t, std::size_t>;

// Numbers for paths that are not a function (web/src/model.ts).
enum Special : std::int64_t { all = -1, too_short = -2 };

struct PathRow {
    std::uint32_t parent = 0;
    std::int64_t function = all;
    std::uint64_t calls = 0;
    std::uint64_t total = 0;
    std::uint64_t self = 0;
    std::uint64_t samples = 0;  // taken in this path itself
    double weight = 0;          // share of all time, and of all samples
};

// Keeps `most` rows in their order. Other rows add to one row for each kept caller.
std::vector<PathRow> longest_paths(const std::vector<PathRow>& rows, std::size_t most) {
    std::vector<double> weights;
    for (const PathRow& row : rows) weights.push_back(row.weight);
    const double beyond = largest_left_out(std::move(weights), most);
    std::vector<PathRow> kept;
    std::vector<std::uint32_t> now(rows.size());  // the row's new number, or that of its substitute
    std::vector<bool> stands(rows.size());        // now[] is the number of a Special::too_short
    std::unordered_map<std::uint32_t, std::uint32_t> rests;  // by caller
    for (std::uint32_t at = 0; at < rows.size(); ++at) {
        const PathRow& row = rows[at];
        const std::uint32_t parent = now[row.parent];
        if (at == 0 || (!stands[row.parent] && row.weight > beyond)) {
            now[at] = static_cast<std::uint32_t>(kept.size());
            kept.push_back(row);
            kept.back().parent = parent;
            continue;
        }
        stands[at] = true;
        if (stands[row.parent]) {
            now[at] = parent;
        } else {
            const auto [rest, is_new] =
                rests.try_emplace(parent, static_cast<std::uint32_t>(kept.size()));
            if (is_new) kept.push_back({.parent = parent, .function = too_short});
            now[at] = rest->second;
            kept[now[at]].total += row.total;
        }
        kept[now[at]].calls += row.calls;
        kept[now[at]].self += row.self;
        kept[now[at]].samples += row.samples;
    }
    return kept;
}

Json columns(const std::vector<PathRow>& rows) {
    Json json = json_columns({"parent", "function", "calls", "total", "self", "samples"});
    for (const PathRow& row : rows)
        add_row(json, {row.parent, row.function, row.calls, row.total, row.self, row.samples});
    return json;
}

std::vector<PathRow> paths_of(const PathTree& tree) {
    std::vector<PathRow> rows;
    std::vector<std::uint64_t> sampled;  // in the path and its callees
    for (const TreeNode& node : tree.nodes) {
        rows.push_back({node.parent, rows.empty() ? all : std::int64_t{node.function}, node.calls,
                        node.total_ns, node.self_ns, node.samples});
        sampled.push_back(node.samples);
    }
    std::vector<std::uint64_t> inside(rows.size());
    for (std::size_t at = rows.size(); at-- > 0;) {
        // The root, and the rows of unknown callers, have only the time of their callees.
        if ((rows[at].calls | rows[at].self) == 0) rows[at].total = inside[at];
        if (at == 0) break;
        inside[rows[at].parent] += rows[at].total;
        sampled[rows[at].parent] += sampled[at];
    }
    const auto share = [](std::uint64_t part, std::uint64_t of) {
        return of == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(of);
    };
    for (std::size_t at = 0; at < rows.size(); ++at) {
        rows[at].weight = share(rows[at].total, rows[0].total) + share(sampled[at], sampled[0]);
    }
    return rows;
}

Json json_bins(const std::vector<Latency::Bin>& bins) {
    return json_list(bins, [](const Latency::Bin& bin) { return Json{bin.from_ns, bin.calls}; });
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
    note(row.dropped,
         "calls and records missing while it was open: its self time may contain them");
    note(row.profiled, "in the target's profile");
    const RowTimes& times = row.shown(raw);
    const CallTimes call = times.call.value_or(CallTimes{});
    return {{"name", for_cell(row.name)},
            {"file", for_cell(row.file)},
            {"line", row.line},
            {"address", hex_address(row.address)},
            {"calls", row.calls},
            {"total", times.total_ns},
            {"self", times.self_ns},
            {"min", json_if(times.call.has_value(), call.min_ns)},
            {"mean", json_if(times.call.has_value(), call.mean_ns)},
            {"max", json_if(times.call.has_value(), call.max_ns)},
            {"share", row.share},
            {"doubtful", is_doubtful(row)},
            {"notes", std::move(notes)},
            {"bins", Json::array()}};
}

// In the tree's order, then those that are in no path. `at`: the index of each, by key_of().
Json json_functions(const Report& report, const Profile& profile, const PathTree& tree,
                    Positions& at) {
    Json list = Json::array();
    for (const FunctionPlace& place : tree.functions) {
        if (const auto key = key_of(place); key != 0) at[key] = list.size();
        list.push_back(json_function(row_at<FunctionRow>(place), report.raw));
    }
    const auto put = [&](const FunctionRow& row) -> Json& {
        const auto [found, is_new] = at.try_emplace(key_of(row), list.size());
        if (is_new) list.emplace_back();
        return list[found->second] = json_function(row, report.raw);
    };
    // If both have calls of a function, the report has already added them.
    std::unordered_set<std::uint64_t> traced;
    for (const FunctionRow& row : report.functions) {
        put(row);
        traced.insert(row.address);
    }
    for (const ProfileRow& row : report.profile) {
        if (traced.contains(row.address)) continue;
        FunctionRow function;
        static_cast<TimedRow&>(function) = row;
        put(function).update({{"bins", json_bins(bins_of(row, report.raw, report.clock_hz))},
                              {"doubtful", row.doubtful}});
    }
    for (std::uint32_t n = 0; n < profile.durations().size(); ++n) {
        const auto found = at.find(key_of(report.by_number[n]));
        if (found == at.end()) continue;
        const std::vector<Latency::Bin> bins = latency_of(report, profile, n).bins;
        if (!bins.empty()) list[found->second]["bins"] = json_bins(bins);
    }
    return list;
}

std::string complaint(const Report& report) {
    std::vector<std::string> parts;
    if (!report.integrity.complete) parts.emplace_back("ends early");
    if (const Loss loss = loss_of(report); loss.dropped + loss.lost != 0)
        parts.push_back(fmt::format("{:.1f} % missing", 100 * loss.share()));
    for (const IntegrityItem& item : report.integrity.items) {
        if (item.spoils && item.value != 0)
            parts.push_back(fmt::format("{} {}", item.name, with_commas(item.value)));
    }
    return fmt::format("{}", fmt::join(parts, ", "));
}

Json facts(const Report& report) {
    Json list = Json::array();
    // A text has one line, which may end with a newline, or several.
    const auto add = [&](const char* name, std::string value, bool spoils = false) {
        while (value.ends_with('\n')) value.pop_back();
        if (!value.empty())
            list.push_back({{"name", name}, {"value", for_terminal(value)}, {"spoils", spoils}});
    };
    add("others", others_line(report));
    add("missing", loss_line(report), true);
    add("image", report.image);
    add("build-id", to_hex(report.build_id));
    add("board", report.board);
    add("cores", std::to_string(report.cores));
    add("clock", fmt::format("{}, {:.3f} MHz", clock_name(report),
                             static_cast<double>(report.clock_hz) / 1e6));
    add("mode", mode_text(report));
    for (const HeadLine& line : head_lines(report)) add(line.name, line.text, line.spoils);
    add("recorded", recorded_text(report));
    add("sessions", std::to_string(report.sessions));
    add("times", overhead_line(report));
    for (const IntegrityItem& item : report.integrity.items) {
        const bool at_least =
            report.integrity.at_least && item.name == std::string_view("generated");
        const std::string value = (at_least ? "at least " : "") + with_commas(item.value);
        if (item.value != 0) add(item.name, value, item.spoils);
    }
    for (const MissingRow& row : report.missing) {
        if (list.size() > 200) break;
        add("missing",
            fmt::format("core {}, {} to {}: {} lost, {} overwritten, {} dropped", row.core,
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
                      std::size_t most_paths, const ViewParts& parts) {
    std::uint64_t calls = 0;
    for (const FunctionRow& row : report.functions) calls += row.calls;
    if (!report.has_calls()) {
        for (const ProfileRow& row : report.profile) calls += row.calls;
    }
    std::string headline = fmt::format("{}{} · {} · {} calls", report.image,
                                       report.board.empty() ? "" : " on " + report.board,
                                       recorded_text(report), with_commas(calls));
    if (!report.part.empty()) headline += " · part: " + report.part;
    if (report.samples.count != 0)
        headline += " · " + with_commas(report.samples.count) + " samples";
    const PathTree tree = path_tree({report, profile, report.raw});
    Positions positions;
    Json functions = json_functions(report, profile, tree, positions);
    const auto position = [&](std::uint64_t key) {
        const auto found = positions.find(key);
        return found == positions.end() ? std::int64_t{-1}
                                        : static_cast<std::int64_t>(found->second);
    };
    return json_line(
        {{"version", 1},
         {"title", for_cell(title)},
         {"headline", for_cell(headline)},
         {"complaint", complaint(report)},
         {"facts", facts(report)},
         {"duration", report.duration_ns},
         {"functions", std::move(functions)},
         {"paths", columns(longest_paths(paths_of(tree), most_paths))},
         {"sampled", report.samples.count != 0},
         {"tasks", report.has_tasks() ? json_tasks(task_table(report, profile)) : Json()},
         {"timeline",
          parts.timeline != nullptr ? timeline_json(*parts.timeline, position) : Json()},
         {"code", parts.code != nullptr ? parts.code->json(report, position) : Json()}});
}

}  // namespace nopscope::host
