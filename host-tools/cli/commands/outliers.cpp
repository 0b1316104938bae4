// SPDX-License-Identifier: Apache-2.0
// `outliers` shows the slowest calls of a function.
#include "host-tools/figures/function_queries/outliers.hpp"

#include <algorithm>

#include "host-tools/base/or_throw.hpp"
#include "host-tools/cli/commands/commands.hpp"
#include "host-tools/cli/commands/load.hpp"
#include "host-tools/figures/function_queries/function_queries.hpp"
#include "host-tools/image/function_names.hpp"
#include "host-tools/views/json/json.hpp"
#include "host-tools/views/text/head.hpp"
#include "host-tools/views/text/table.hpp"
#include "host-tools/views/text/walk.hpp"

namespace nopscope::host {
namespace {

struct OutliersOptions {
    ReportOptions report;  // file, image, format, raw
    std::string function;  // a name or a glob
    std::size_t count = 3;
    double min_percent = 1;  // the tree shows callees with at least this part of the call
};

std::string name_of(const OutlierSink& sink, std::uint32_t function) {
    if (function == away_function) return "(other tasks)";
    return sink.place(function).name;
}

// Calls visit(node, depth) for nodes of `min_percent` or more: depth first, longest child first.
template <typename Visit>
void visit_tree(const Outlier& call, double min_percent, Visit visit) {
    const auto& nodes = call.nodes;
    Children children(nodes.size());
    for (std::uint32_t at = 1; at < nodes.size(); ++at) children[nodes[at].parent].push_back(at);
    for (auto& list : children) {
        std::sort(list.begin(), list.end(), [&](std::uint32_t a, std::uint32_t b) {
            return std::pair(nodes[a].total, a) > std::pair(nodes[b].total, b);
        });
    }
    const double least = min_percent / 100 * static_cast<double>(call.duration());
    visit(nodes[0], 0);
    walk(
        children,
        [&](std::uint32_t at, unsigned) { return static_cast<double>(nodes[at].total) >= least; },
        [&](std::uint32_t at, unsigned depth) { visit(nodes[at], depth + 1); });
}

std::string text_of(const OutlierSink& sink, const Outlier& call, const OutliersOptions& options) {
    std::string where = fmt::format("core {}", call.track.core);
    if (!sink.task(call).empty())
        where += ", " + for_cell(sink.task(call));
    else if (call.track.context != 0)
        where += fmt::format(", context {}", call.track.context);
    std::string out = fmt::format(
        "{}  {} at {} ({}){}{}{}\n", human_ns(call.duration()),
        for_cell(name_of(sink, call.nodes.front().function)), exact_ns(sink.begin(call)), where,
        call.away == 0 ? ""
                       : fmt::format(", {} of other tasks {}", human_ns(call.away),
                                     options.report.on_cpu ? "beside it" : "in it"),
        call.how == Left::returned ? "" : fmt::format(", {}", left_text(call.how)),
        call.cut ? "; it has more paths than are shown" : "");
    out += fmt::format("{:>12}  {:>8}  {:>8}  function\n", "calls", "total", "self");
    visit_tree(call, options.min_percent, [&](const OutlierNode& node, unsigned depth) {
        out +=
            fmt::format("{:>12}  {:>8}  {:>8}  {}\n", with_commas(node.calls), human_ns(node.total),
                        human_ns(node.self), indented(depth, name_of(sink, node.function)));
    });
    return out;
}

Json json_of(const OutlierSink& sink, const Outlier& call, const OutliersOptions& options) {
    Json json{{"name", to_utf8(name_of(sink, call.nodes.front().function))},
              {"duration_ns", call.duration()},
              {"away_ns", call.away}};
    json.update(json_of_call(sink, call));
    json.update({{"cut", call.cut}, {"tree", Json::array()}});
    visit_tree(call, options.min_percent, [&](const OutlierNode& node, unsigned depth) {
        json["tree"].push_back({{"depth", depth},
                                {"name", to_utf8(name_of(sink, node.function))},
                                {"calls", node.calls},
                                {"total_ns", node.total},
                                {"self_ns", node.self}});
    });
    return json;
}

Exit outliers(const OutliersOptions& options) {
    OutlierSink sink(
        [&](const FunctionPlace& place) { return names_function(options.function, place); },
        options.count, options.report.on_cpu);
    const Loaded loaded = load_with_events(sink, options.report, std::nullopt);
    (void)or_throw(functions_named(loaded.report, options.function));
    if (options.report.format == Format::json) {
        const auto json = [&](const Outlier& call) { return json_of(sink, call, options); };
        print(json_text({{"calls", sink.calls()}, {"slowest", json_list(sink.slowest(), json)}}));
        return Exit::ok;
    }
    std::string out = fmt::format(
        "the slowest {} of {} outermost calls{}; as recorded, without the tracer's time\n\n",
        sink.slowest().size(), with_commas(sink.calls()),
        options.report.on_cpu ? " on the CPU" : "");
    for (const Outlier& call : sink.slowest()) out += text_of(sink, call, options) + "\n";
    print(out + integrity_line(loaded.report.integrity) + "\n");
    return Exit::ok;
}

}  // namespace

Action add_outliers(CLI::App& app, CLI::App*& command) {
    auto options = std::make_shared<OutliersOptions>();
    command =
        add_command(app, "outliers", "The slowest calls of a function, each with what it called",
                    {"nopscope outliers run.nsc on_packet --top 5"});
    add_recording(command, options->report);
    add_function(command, options->function);
    add_choice(command, "--format", options->report.format, formats_without_csv, "Output");
    add_count(command, "--top", options->count, 1, 1000, "How many (3)");
    add_on_cpu(command, options->report.on_cpu);
    add_percent(command, "--min-share", options->min_percent,
                "Of a call's tree only what took so many percent of it (1)");
    return [options] { return outliers(*options); };
}

}  // namespace nopscope::host
