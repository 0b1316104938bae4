// SPDX-License-Identifier: Apache-2.0
#include "host-tools/views/text/graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "host-tools/base/text.hpp"
#include "host-tools/figures/report/kept_functions.hpp"
#include "host-tools/figures/report/tree.hpp"
#include "host-tools/views/json/report.hpp"
#include "host-tools/views/text/head.hpp"
#include "host-tools/views/text/table.hpp"
#include "host-tools/views/text/walk.hpp"

namespace nopscope::host {
namespace {

bool is_too_deep(const GraphOptions& options, unsigned depth) {
    return options.depth != 0 && depth >= options.depth;
}

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

// visit(node, depth, share): `share` of the time of all outermost calls.
template <typename Visit>
void visit_calls(const Report& report, const Profile& profile, const GraphOptions& options,
                 Visit visit) {
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
    const auto share = [&](std::uint32_t node) { return all > 0 ? total(node) / all : 0.0; };
    const auto shows = [&](std::uint32_t node, unsigned depth) {
        if ((!report.kept.empty() && !leads[node]) || is_too_deep(options, depth)) return false;
        const bool is_gap = nodes[node].kind == CallTree::Kind::after_gap;
        return is_gap || all <= 0 || share(node) >= options.min_share;
    };
    walk(children, shows,
         [&](std::uint32_t node, unsigned depth) { visit(node, depth, share(node)); });
}

// visit(node, depth)
template <typename Visit>
void visit_samples(const Report& report, const GraphOptions& options, Visit visit) {
    const SampleReport& samples = report.samples;
    const auto& nodes = samples.nodes;
    Children children(nodes.size());
    for (std::uint32_t i = 1; i < nodes.size(); ++i) children[nodes[i].parent].push_back(i);
    for (auto& list : children) {
        std::stable_sort(list.begin(), list.end(), [&](std::uint32_t a, std::uint32_t b) {
            return nodes[a].total > nodes[b].total;
        });
    }
    const std::vector<bool> leads = leads_to(
        nodes, [&](std::size_t at) { return keeps(report, samples.places[nodes[at].function]); });
    const auto shows = [&](std::uint32_t node, unsigned depth) {
        const double share =
            static_cast<double>(nodes[node].total) / static_cast<double>(samples.count);
        return leads[node] && !is_too_deep(options, depth) && share >= options.min_share;
    };
    walk(children, shows, visit);
}

std::string text_sampled_graph(const Report& report, const GraphOptions& options) {
    const SampleReport& samples = report.samples;
    if (samples.count == 0) return {};
    std::string out = head_of_samples(report);
    auto to = std::back_inserter(out);
    fmt::format_to(to, "{:>12}  {:>8}  {:>7}  function\n", "total", "self", "share");
    visit_samples(report, options, [&](std::uint32_t number, unsigned depth) {
        const SampleNode& node = samples.nodes[number];
        fmt::format_to(to, "{:>12}  {:>8}  {:>7}  {}\n", with_commas(node.total),
                       with_commas(node.self), percent_of(node.total, samples.count),
                       indented(depth, samples.places[node.function].name));
    });
    return out;
}

// Makes the first members of the nodes of a walk.
class NodeIds {
public:
    Json next(unsigned depth) {
        last_.resize(depth + 1);
        last_[depth] = count_;
        return {{"id", count_++},
                {"parent", depth == 0 ? Json(nullptr) : Json(last_[depth - 1])},
                {"depth", depth}};
    }

private:
    std::size_t count_ = 0;
    std::vector<std::size_t> last_;  // id of the last node of each depth
};

Json json_sampled_graph(const Report& report, const GraphOptions& options) {
    const SampleReport& samples = report.samples;
    Json json = json_head_of_samples(samples), nodes = Json::array();
    NodeIds ids;
    visit_samples(report, options, [&](std::uint32_t number, unsigned depth) {
        const SampleNode& node = samples.nodes[number];
        Json one = ids.next(depth);
        one.update({{"name", to_utf8(samples.places[node.function].name)},
                    {"address", hex_address(samples.places[node.function].address)},
                    {"self", node.self},
                    {"total", node.total}});
        nodes.push_back(std::move(one));
    });
    json["nodes"] = std::move(nodes);
    return json;
}

// Appends a node's text to `list`, indented as json_text() does it one level down. A JSON value of
// all nodes would take ten times the memory of its text.
void append_element(std::string& list, const Json& one, bool is_first) {
    std::string text = json_text(one);
    text.pop_back();
    if (list.capacity() - list.size() < 2 * text.size() + 256)
        list.reserve(list.capacity() / 4 * 5 + (std::size_t{1} << 16));
    list += is_first ? "\n  " : ",\n  ";
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
    visit_calls(report, profile, options, [&](std::uint32_t at, unsigned depth, double share) {
        const CallTree::Node& node = profile.tree().nodes()[at];
        const Times& times = report.of_node(at);
        fmt::format_to(to, "{:>12}  {:>8}  ", with_commas(node.calls), human_ns(times.total_ns));
        if (shows_cpu(report)) fmt::format_to(to, "{:>8}  ", human_ns(times.cpu_ns));
        fmt::format_to(to, "{:>8}  {:>5.1f} %  ", human_ns(times.self_ns), share * 100);
        for (std::size_t i = 0; i < report.events.columns.size(); ++i) {
            const EventCounts& counts = report.events.nodes[i][at].shown(report.raw);
            fmt::format_to(to, "{:>{}}  {:>12}  ", with_commas(counts.total),
                           event_width(report.events.columns[i]), with_commas(counts.self));
        }
        fmt::format_to(to, "{}\n", indented(depth, name_of_node(report, node)));
    });
    if (!only_samples && report.samples.count != 0) out += "\n";
    return out + text_sampled_graph(report, options) + "\n" + text_marks(report) +
           others_line(report) + loss_line(report) + overhead_line(report) +
           integrity_line(report.integrity) + "\n";
}

std::string json_graph(const Report& report, const Profile& profile, const GraphOptions& options) {
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
    if (report.samples.count != 0) json["samples"] = json_sampled_graph(report, options);
    const std::string around = json_text(json);
    const std::string begin_of_list = "\n \"nodes\": [";
    const std::size_t at_list = around.find(begin_of_list) + begin_of_list.size();
    std::string out = around.substr(0, at_list);
    NodeIds ids;
    visit_calls(report, profile, options, [&](std::uint32_t at, unsigned depth, double) {
        const CallTree::Node& node = profile.tree().nodes()[at];
        const FunctionRow& row = report.by_number[node.function];
        const Times &raw = report.raw_nodes[at], &corrected = report.nodes[at];
        Json one = ids.next(depth);
        one.update(
            {{"name", to_utf8(name_of_node(report, node))},
             {"address", json_if(node.is_path() && !row.interrupt, hex_address(row.address))},
             {"calls", node.calls},
             {"total_ns", raw.total_ns},
             {"self_ns", raw.self_ns},
             {"corrected_total_ns", corrected.total_ns},
             {"corrected_self_ns", corrected.self_ns},
             {"cpu_ns", raw.cpu_ns},
             {"corrected_cpu_ns", corrected.cpu_ns}});
        if (!report.events.columns.empty()) one["events"] = json_node_events(report, at);
        append_element(out, one, out.size() == at_list);
    });
    if (out.size() != at_list) out += "\n ";
    return out.append(around, at_list);
}

}  // namespace nopscope::host
