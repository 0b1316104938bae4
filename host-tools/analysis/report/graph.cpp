// SPDX-License-Identifier: Apache-2.0
// The call tree, children by total time. --levels and --min-share leave out whole paths, so the
// times of the others stay true. The walk has no recursion, because a recording may have paths too
// deep for this process's stack. For the same reason JSON lists nodes with their parents.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "host-tools/analysis/report/json.hpp"
#include "host-tools/analysis/report/kept_functions.hpp"
#include "host-tools/analysis/report/report.hpp"
#include "host-tools/base/text.hpp"

namespace nopscope::host {
namespace {

struct Shown {
    std::uint32_t node = 0;
    unsigned depth = 0;
    double share = 0;  // of the time of all outermost calls
};

using Children = std::vector<std::vector<std::uint32_t>>;

Children sorted_children(const Report& report, const Profile& profile) {
    const auto& nodes = profile.tree().nodes();
    const auto total = [&](std::uint32_t node) { return report.of_node(node).total_ns; };
    Children children(nodes.size());
    for (auto i = static_cast<std::uint32_t>(nodes.size()); i-- > CallTree::root + 1;) {
        if (nodes[i].is_path() || nodes[i].calls != 0 || !children[i].empty())
            children[nodes[i].parent].push_back(i);
    }
    // A gap and "(others)" come last.
    const auto is_last = [&](std::uint32_t node) {
        return !nodes[node].is_path() && nodes[node].kind != CallTree::Kind::root;
    };
    for (auto& list : children) {
        std::sort(list.begin(), list.end(), [&](std::uint32_t a, std::uint32_t b) {
            if (is_last(a) != is_last(b)) return is_last(b);
            if (total(a) != total(b)) return total(a) > total(b);
            return nodes[a].calls != nodes[b].calls ? nodes[a].calls > nodes[b].calls : a < b;
        });
    }
    return children;
}

// Depth first, as printed.
std::vector<Shown> shown_nodes(const Report& report, const Profile& profile,
                               const GraphOptions& options) {
    const auto& nodes = profile.tree().nodes();
    const Children children = sorted_children(report, profile);
    const auto total = [&](std::uint32_t node) {
        return static_cast<double>(report.of_node(node).total_ns);
    };
    double all = 0;
    for (const std::uint32_t top : children[CallTree::root]) {
        if (nodes[top].is_path() || nodes[top].kind == CallTree::Kind::root) all += total(top);
    }
    const std::vector<bool> leads = leads_to(nodes, [&](std::size_t at) {
        return nodes[at].is_path() && keeps(report, report.by_number[nodes[at].function]);
    });
    std::vector<Shown> pending;
    const auto push = [&](std::uint32_t node, unsigned depth) {
        if (!report.kept.empty() && !leads[node]) return;
        const double share = all > 0 ? total(node) / all : 0.0;
        const bool pseudo = nodes[node].kind == CallTree::Kind::after_gap;
        if (options.depth != 0 && depth >= options.depth) return;
        if (!pseudo && all > 0 && share < options.min_share) return;
        pending.push_back({node, depth, share});
    };
    const auto push_children = [&](std::uint32_t node, unsigned depth) {
        const auto& list = children[node];
        for (auto child = list.rbegin(); child != list.rend(); ++child) push(*child, depth);
    };
    push_children(CallTree::root, 0);
    std::vector<Shown> result;
    while (!pending.empty()) {
        const Shown at = pending.back();
        pending.pop_back();
        result.push_back(at);
        push_children(at.node, at.depth + 1);
    }
    return result;
}

// Appends a node's text to `list`, indented as json_text() does it one level down. A JSON value of
// all nodes would take ten times the memory of its text.
void append_element(std::string& list, const Json& one, std::size_t before) {
    std::string text = json_text(one);
    text.pop_back();
    if (list.capacity() - list.size() < 2 * text.size() + 256)
        list.reserve(list.capacity() / 4 * 5 + (std::size_t{1} << 16));
    list += before == 0 ? "\n  " : ",\n  ";
    for (const char c : text) {
        list += c;
        if (c == '\n') list += "  ";
    }
}

std::size_t event_width(const EventColumn& column) {
    return std::max<std::size_t>(column.name.size(), 12);
}

}  // namespace

std::string text_graph(const Report& report, const Profile& profile, const GraphOptions& options) {
    const auto& nodes = profile.tree().nodes();
    std::string out;
    auto to = std::back_inserter(out);
    const bool only_samples = !report.has_calls() && report.samples.count != 0;
    if (!only_samples) {
        fmt::format_to(to, "{:>12}  {:>8}  ", "calls", report.on_cpu ? "on CPU" : "total");
        if (shows_cpu(report)) fmt::format_to(to, "{:>8}  ", "on CPU");
        fmt::format_to(to, "{:>8}  {:>7}  ", "self", "share");
        for (const EventColumn& column : report.events.columns) {
            fmt::format_to(to, "{:>{}}  {:>12}  ", column.name, event_width(column), "self");
        }
        out += "function\n";
    }
    constexpr unsigned deepest_indent = 60;
    for (const Shown& at : shown_nodes(report, profile, options)) {
        const CallTree::Node& node = nodes[at.node];
        const Times& times = report.of_node(at.node);
        const unsigned indent = 2 * std::min(at.depth, deepest_indent);
        fmt::format_to(to, "{:>12}  {:>8}  ", with_commas(node.calls), human_ns(times.total_ns));
        if (shows_cpu(report)) fmt::format_to(to, "{:>8}  ", human_ns(times.cpu_ns));
        fmt::format_to(to, "{:>8}  {:>5.1f} %  ", human_ns(times.self_ns), at.share * 100);
        for (std::size_t i = 0; i < report.events.columns.size(); ++i) {
            const EventCell& cell = report.events.nodes[i][at.node];
            fmt::format_to(to, "{:>{}}  {:>12}  ", with_commas(total_of(cell, report.raw)),
                           event_width(report.events.columns[i]),
                           with_commas(self_of(cell, report.raw)));
        }
        fmt::format_to(to, "{:{}}{}\n", "", indent, for_cell(name_of_node(report, node)));
    }
    if (!only_samples && report.samples.count != 0) out += "\n";
    return out + text_sampled_graph(report, options) + "\n" + text_marks(report) +
           others_line(report) + loss_line(report) + overhead_line(report) +
           integrity_line(report.integrity) + "\n";
}

std::string json_graph(const Report& report, const Profile& profile, const GraphOptions& options) {
    const auto& nodes = profile.tree().nodes();
    Json json;
    json["image"] = json_image(report);
    json["clock_hz"] = report.clock_hz;
    json["on_cpu"] = report.on_cpu;
    json["integrity"] = json_integrity(report.integrity);
    json["overhead"] = json_overhead(report);
    json["loss"] = json_loss(report);
    if (report.others.any()) json["others"] = json_others(report);
    json["nodes"] = Json::array();
    json["markers"] = json_marks(report);
    json_samples(json, report, &options);
    const std::string around = json_text(json);
    const std::string begin_of_list = "\n \"nodes\": [";
    const std::size_t at_list = around.find(begin_of_list) + begin_of_list.size();
    std::string out = around.substr(0, at_list);
    std::size_t count = 0;          // of nodes in the list
    std::vector<std::size_t> path;  // id of the last node of each depth
    for (const Shown& at : shown_nodes(report, profile, options)) {
        const CallTree::Node& node = nodes[at.node];
        path.resize(at.depth + 1);
        path[at.depth] = count;
        const FunctionRow& row = report.by_number[node.function];
        const bool pseudo = !node.is_path() || row.interrupt;
        Json one = {{"id", count},
                    {"parent", at.depth == 0 ? Json(nullptr) : Json(path[at.depth - 1])},
                    {"depth", at.depth},
                    {"name", to_utf8(name_of_node(report, node))},
                    {"address", pseudo ? Json(nullptr) : Json(hex_address(row.address))},
                    {"calls", node.calls},
                    {"total_ns", report.raw_nodes[at.node].total_ns},
                    {"self_ns", report.raw_nodes[at.node].self_ns},
                    {"corrected_total_ns", report.nodes[at.node].total_ns},
                    {"corrected_self_ns", report.nodes[at.node].self_ns},
                    {"cpu_ns", report.raw_nodes[at.node].cpu_ns},
                    {"corrected_cpu_ns", report.nodes[at.node].cpu_ns}};
        if (!report.events.columns.empty()) one["events"] = json_node_events(report, at.node);
        append_element(out, one, count++);
    }
    if (count != 0) out += "\n ";
    return out.append(around, at_list);
}

}  // namespace nopscope::host
