// SPDX-License-Identifier: Apache-2.0
// `report` and `graph` read a recording, name its functions, and print it.
#include "host-tools/views/json/report.hpp"
#include "host-tools/cli/commands/commands.hpp"
#include "host-tools/cli/commands/load.hpp"
#include "host-tools/views/text/graph.hpp"
#include "host-tools/views/text/report.hpp"

namespace nopscope::host {
namespace {

struct SortedOptions : ReportOptions {
    SortKey sort = SortKey::self;
    std::size_t top = 0;
};
struct TreeOptions : ReportOptions {
    GraphOptions graph;
    bool yes = false;  // the output may have more than most_unasked_bytes
};

const std::map<std::string, SortKey> sort_keys{{"self", SortKey::self},
                                               {"total", SortKey::total},
                                               {"calls", SortKey::calls},
                                               {"max", SortKey::max}};

Exit report(const SortedOptions& options) {
    Loaded loaded = load(options);
    sort_rows(loaded.report.functions, options.sort, options.top, options.raw);
    sort_rows(loaded.report.profile, options.sort, options.top, options.raw);
    sort_rows(loaded.report.samples.functions, options.sort, options.top);
    loaded.report.sort = options.sort;
    loaded.report.top = options.top;
    switch (options.format) {
    case Format::text: print(text_report(loaded.report)); break;
    case Format::json: print(json_report(loaded.report)); break;
    case Format::csv: print(csv_report(loaded.report)); break;
    }
    return Exit::ok;
}

Exit graph(const TreeOptions& options) {
    const Loaded loaded = load(options);
    if (!options.yes) standard_output().limit(most_unasked_bytes);
    print(options.format == Format::json
              ? json_graph(loaded.report, *loaded.profile, options.graph)
              : text_graph(loaded.report, *loaded.profile, options.graph));
    return Exit::ok;
}

}  // namespace

Action add_report(CLI::App& app, CLI::App*& command) {
    auto options = std::make_shared<SortedOptions>();
    command = add_command(
        app, "report", "Show where the time went, by function",
        {"nopscope report run.nsc --top 20", "nopscope report run.nsc --sort total --format csv"});
    add_recording(command, *options);
    add_kept_functions(command, *options);
    add_choice(command, "--format", options->format, formats, "Output");
    add_choice(command, "--sort", options->sort, sort_keys, "Order, largest first");
    add_count(command, "--top", options->top, 1, most_rows, "Only the first so many functions");
    add_raw(command, options->raw);
    add_on_cpu(command, options->on_cpu);
    add_split(command, options->split);
    return [options] { return report(*options); };
}

Action add_graph(CLI::App& app, CLI::App*& command) {
    auto options = std::make_shared<TreeOptions>();
    auto percent = std::make_shared<double>(0);
    command = add_command(app, "graph", "Show the call tree with times",
                          {"nopscope graph run.nsc --levels 4 --min-share 1"});
    add_recording(command, *options);
    add_kept_functions(command, *options);
    add_choice(command, "--format", options->format, formats_without_csv, "Output");
    add_count(command, "--levels", options->graph.depth, 1, most_rows, "Only so many levels");
    add_percent(command, "--min-share", *percent, "Only paths with so many percent of the time");
    add_raw(command, options->raw);
    add_on_cpu(command, options->on_cpu);
    add_split(command, options->split);
    add_yes(command, options->yes);
    return [options, percent] {
        options->graph.min_share = *percent / 100;
        return graph(*options);
    };
}

}  // namespace nopscope::host
