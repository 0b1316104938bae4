// SPDX-License-Identifier: Apache-2.0
// Samples by function and by call path.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <unordered_map>

#include "host-tools/analysis/report/json.hpp"
#include "host-tools/analysis/report/kept_functions.hpp"
#include "host-tools/analysis/report/report.hpp"
#include "host-tools/analysis/report/table.hpp"
#include "host-tools/base/text.hpp"

namespace nopscope::host {
namespace {

class Namer {
public:
    Namer(SampleReport& to, const HelloInfo& hello, const Symbols* symbols)
        : to_(to), base_(hello.text_base - hello.load_bias), symbols_(symbols) {}

    // The number of the function around the address; if there is none, of the address itself.
    std::uint32_t function(const Samples::Node& node) {
        const std::uint64_t address = base_ + static_cast<std::uint64_t>(node.offset);
        // The call is before its return address, which may be the first of another function.
        const Function* const known = symbols_ != nullptr
                                          ? symbols_->around(node.is_return ? address - 1 : address)
                                          : nullptr;
        const std::uint64_t begin = known != nullptr ? known->address : address;
        const auto [found, is_new] =
            numbers_.try_emplace(begin, static_cast<std::uint32_t>(to_.places.size()));
        if (is_new) to_.places.push_back(place_of(begin, known));
        return found->second;
    }

private:
    SampleReport& to_;
    std::uint64_t base_;
    const Symbols* symbols_;
    std::unordered_map<std::uint64_t, std::uint32_t> numbers_;
};

// The functions of a sample that ends at `number`, the outermost first.
std::vector<std::uint32_t> path_of(const std::vector<Samples::Node>& nodes, std::uint32_t number,
                                   Namer& namer) {
    std::vector<std::uint32_t> path;
    for (; number != Samples::root; number = nodes[number].parent) {
        const std::uint32_t function = namer.function(nodes[number]);
        // The link register has the return address of the last call that the function made.
        if (nodes[number].is_link && !path.empty() && path.back() == function) continue;
        path.push_back(function);
    }
    std::reverse(path.begin(), path.end());
    return path;
}

std::vector<std::vector<std::uint32_t>> children_by_total(const std::vector<SampleNode>& nodes) {
    std::vector<std::vector<std::uint32_t>> children(nodes.size());
    for (std::uint32_t i = 1; i < nodes.size(); ++i) children[nodes[i].parent].push_back(i);
    for (auto& list : children) {
        std::stable_sort(list.begin(), list.end(), [&](std::uint32_t a, std::uint32_t b) {
            return nodes[a].total > nodes[b].total;
        });
    }
    return children;
}

// visit(node, depth), as printed: depth first, without recursion.
template <typename Visit>
void visit_shown(const Report& report, const GraphOptions& options, Visit visit) {
    const SampleReport& samples = report.samples;
    const auto children = children_by_total(samples.nodes);
    const std::vector<bool> leads = leads_to(samples.nodes, [&](std::size_t at) {
        return keeps(report, samples.places[samples.nodes[at].function]);
    });
    std::vector<std::pair<std::uint32_t, unsigned>> pending{{0, 0}};
    while (!pending.empty()) {
        const auto [node, depth] = pending.back();
        pending.pop_back();
        if (node != 0) visit(node, depth - 1);
        if (options.depth != 0 && depth >= options.depth) continue;
        const auto& list = children[node];
        for (auto child = list.rbegin(); child != list.rend(); ++child) {
            if (!leads[*child]) continue;
            const double share = static_cast<double>(samples.nodes[*child].total) /
                                 static_cast<double>(samples.count);
            if (share >= options.min_share) pending.emplace_back(*child, depth + 1);
        }
    }
}

std::string percent(std::uint64_t part, const SampleReport& of) {
    return fmt::format("{:.1f} %", 100 * static_cast<double>(part) / static_cast<double>(of.count));
}

std::string head(const Report& report) {
    const SampleReport& samples = report.samples;
    std::string line = fmt::format("{} sample{}, one every {} of a core's time",
                                   with_commas(samples.count), samples.count == 1 ? "" : "s",
                                   human_ns(report.duration_ns * report.cores / samples.count));
    if (samples.cut != 0)
        line += fmt::format("; of {} the outermost callers are left out", with_commas(samples.cut));
    return line + "\n";
}

}  // namespace

void add_samples(Report& report, const Profile& profile, const Symbols* symbols) {
    SampleReport& samples = report.samples;
    const auto& nodes = profile.samples().nodes();
    Namer namer(samples, *profile.hello(), symbols);
    samples.count = profile.samples().count();
    samples.cut = profile.samples().cut();
    samples.nodes.resize(1);
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> children;
    std::vector<std::uint32_t> last_counted;  // by function: the last node that its total includes
    for (std::uint32_t number = 1; number < nodes.size(); ++number) {
        const std::uint64_t count = nodes[number].samples;
        if (count == 0) continue;
        std::uint32_t at = 0;
        for (const std::uint32_t function : path_of(nodes, number, namer)) {
            const auto next = static_cast<std::uint32_t>(samples.nodes.size());
            const auto [found, is_new] = children.try_emplace({at, function}, next);
            if (is_new)
                samples.nodes.push_back(
                    {.parent = at, .function = function, .self = 0, .total = 0});
            at = found->second;
            samples.nodes[at].total += count;
            samples.functions.resize(samples.places.size());
            last_counted.resize(samples.places.size());
            if (std::exchange(last_counted[function], number) != number)
                samples.functions[function].total += count;
        }
        samples.nodes[at].self += count;
        samples.functions[samples.nodes[at].function].self += count;
    }
    for (std::size_t i = 0; i < samples.functions.size(); ++i) {
        SampleRow& row = samples.functions[i];
        static_cast<FunctionPlace&>(row) = samples.places[i];
        row.share = static_cast<double>(row.self) / static_cast<double>(samples.count);
    }
}

void sort_rows(std::vector<SampleRow>& rows, SortKey key, std::size_t top) {
    const auto values = [key](const SampleRow& row) {
        return key == SortKey::total ? std::pair(row.total, row.self)
                                     : std::pair(row.self, row.total);
    };
    std::sort(rows.begin(), rows.end(), [&](const SampleRow& a, const SampleRow& b) {
        if (values(a) != values(b)) return values(a) > values(b);
        return a.name != b.name ? a.name < b.name : a.address < b.address;
    });
    if (top != 0 && rows.size() > top) rows.resize(top);
}

std::string text_samples(const Report& report) {
    const SampleReport& samples = report.samples;
    if (samples.count == 0) return {};
    std::vector<Line> lines{{"self", "share", "total", "share", "function", "defined at"}};
    for (const SampleRow& row : samples.functions) {
        lines.push_back({with_commas(row.self), percent(row.self, samples), with_commas(row.total),
                         percent(row.total, samples), for_cell(row.name), short_place(row)});
    }
    return head(report) + table(lines) + "\n";
}

std::string text_sampled_graph(const Report& report, const GraphOptions& options) {
    const SampleReport& samples = report.samples;
    if (samples.count == 0) return {};
    std::string out = head(report);
    auto to = std::back_inserter(out);
    fmt::format_to(to, "{:>12}  {:>8}  {:>7}  function\n", "total", "self", "share");
    constexpr unsigned deepest_indent = 60;
    visit_shown(report, options, [&](std::uint32_t number, unsigned depth) {
        const SampleNode& node = samples.nodes[number];
        fmt::format_to(to, "{:>12}  {:>8}  {:>7}  {:{}}{}\n", with_commas(node.total),
                       with_commas(node.self), percent(node.total, samples), "",
                       2 * std::min(depth, deepest_indent),
                       for_cell(samples.places[node.function].name));
    });
    return out;
}

void json_samples(Json& json, const Report& report, const GraphOptions* graph) {
    const SampleReport& samples = report.samples;
    if (samples.count == 0) return;
    Json& to = json["samples"] = {{"count", samples.count}, {"cut", samples.cut}};
    if (graph == nullptr) {
        Json& functions = to["functions"] = Json::array();
        for (const SampleRow& row : samples.functions) {
            Json one = json_place(row);
            one.update({{"self", row.self}, {"total", row.total}, {"share", row.share}});
            functions.push_back(std::move(one));
        }
        return;
    }
    Json& nodes = to["nodes"] = Json::array();
    std::vector<std::size_t> path;  // id of the last node of each depth
    visit_shown(report, *graph, [&](std::uint32_t number, unsigned depth) {
        const SampleNode& node = samples.nodes[number];
        path.resize(depth + 1);
        path[depth] = nodes.size();
        nodes.push_back({{"id", nodes.size()},
                         {"parent", depth == 0 ? Json(nullptr) : Json(path[depth - 1])},
                         {"depth", depth},
                         {"name", to_utf8(samples.places[node.function].name)},
                         {"address", hex_address(samples.places[node.function].address)},
                         {"self", node.self},
                         {"total", node.total}});
    });
}

}  // namespace nopscope::host
