// SPDX-License-Identifier: Apache-2.0
// `callers`, `callees`, `latency`, `stack-depth`.
#include "host-tools/figures/function_queries/function_queries.hpp"

#include <algorithm>

#include "host-tools/base/or_throw.hpp"
#include "host-tools/cli/commands/commands.hpp"
#include "host-tools/cli/commands/load.hpp"
#include "host-tools/figures/function_queries/outliers.hpp"
#include "host-tools/image/function_names.hpp"
#include "host-tools/views/json/json.hpp"
#include "host-tools/views/text/head.hpp"
#include "host-tools/views/text/table.hpp"

namespace nopscope::host {
namespace {

struct FunctionQueryOptions {
    ReportOptions report;     // file, image, format, raw
    std::string function;     // a name or a glob
    std::size_t longest = 0;  // `latency`: how many of the longest calls to list
};

std::string head(const FunctionPlace& place, const std::string& rest) {
    const std::string where = short_place(place);
    return fmt::format("{}{}{}  {}\n", for_cell(place.name), where.empty() ? "" : "  ", where,
                       rest);
}

// Prints one part of text or JSON for each function that the options name.
template <typename Text, typename Data>
Exit answer(const FunctionQueryOptions& options, const Loaded& loaded, Text text, Data data) {
    Json json = Json::array();
    std::string out;
    for (const std::uint32_t function :
         or_throw(functions_named(loaded.report, options.function))) {
        if (options.report.format == Format::json) {
            Json one = json_place(loaded.report.by_number[function]);
            data(function, one);
            json.push_back(std::move(one));
        } else {
            out += (out.empty() ? "" : "\n") + text(function);
        }
    }
    print(options.report.format == Format::json
              ? json_text(json)
              : out + "\n" + integrity_line(loaded.report.integrity) + "\n");
    return Exit::ok;
}

Exit neighbours(const FunctionQueryOptions& options, const char* of, const char* name,
                Neighbours (*find)(const Report&, const Profile&)) {
    const Loaded loaded = load(options.report);
    const Neighbours found = find(loaded.report, *loaded.profile);
    return answer(
        options, loaded,
        [&](std::uint32_t function) {
            const FunctionRow& row = loaded.report.by_number[function];
            std::vector<Line> lines{{"calls", "total", "mean", of, ""}};
            for (const Neighbour& one : found[function]) {
                lines.push_back(
                    {with_commas(one.calls), human_ns(one.total_ns),
                     human_ns(static_cast<double>(one.total_ns) /
                              static_cast<double>(std::max<std::uint64_t>(one.calls, 1))),
                     for_cell(neighbour_name(loaded.report, one)), ""});
            }
            return head(row, fmt::format("{} calls, total {}", with_commas(row.calls),
                                         human_ns(row.shown(loaded.report.raw).total_ns))) +
                   (lines.size() == 1 ? fmt::format("{}: none was recorded\n", of) : table(lines));
        },
        [&](std::uint32_t function, Json& json) {
            json["calls"] = loaded.report.by_number[function].calls;
            json[name] = json_list(found[function], [&](const Neighbour& one) {
                const bool is_known = one.function < loaded.report.by_number.size();
                return Json{
                    {"name", json_if(is_known, to_utf8(neighbour_name(loaded.report, one)))},
                    {"after_gap", one.function == Neighbour::unknown},
                    {"calls", one.calls},
                    {"total_ns", one.total_ns}};
            });
        });
}

// Draws a bar with a resolution of one eighth of a character.
std::string bar(std::uint64_t part, std::uint64_t most, unsigned width) {
    static constexpr const char* eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    const auto eight = static_cast<unsigned>((part * width * 8 + most - 1) / most);
    std::string text;
    for (unsigned n = 0; n < eight / 8; ++n) text += "█";
    return text + eighths[eight % 8];
}

// Merges pairs of bins until at most `most` rows are left.
std::vector<Latency::Bin> shown_bins(const Latency& latency) {
    constexpr std::size_t most = 32;
    std::vector<Latency::Bin> bins = latency.bins;
    while (bins.size() > most) {
        std::vector<Latency::Bin> half;
        for (std::size_t n = 0; n < bins.size(); n += 2) {
            half.push_back(
                {bins[n].from_ns, bins[n].calls + (n + 1 < bins.size() ? bins[n + 1].calls : 0)});
        }
        bins = std::move(half);
    }
    return bins;
}

std::string latency_text(const Loaded& loaded, std::uint32_t function) {
    const FunctionRow& row = loaded.report.by_number[function];
    const Latency latency = latency_of(loaded.report, *loaded.profile, function);
    std::string out = head(row, fmt::format("{} calls, {} of them seen from begin to end",
                                            with_commas(row.calls), with_commas(latency.timed)));
    if (latency.timed == 0) return out;
    out += fmt::format(
        "min {}, mean {}, p50 {}, p90 {}, p99 {}, p99.9 {}, max {}; {}percentiles rounded up by a "
        "quarter at most\n",
        human_ns(latency.min_ns), human_ns(latency.mean_ns), human_ns(latency.per_mille_ns(500)),
        human_ns(latency.per_mille_ns(900)), human_ns(latency.per_mille_ns(990)),
        human_ns(latency.per_mille_ns(999)), human_ns(latency.max_ns),
        loaded.report.raw ? "as recorded, " : "");
    if (row.longest) out += fmt::format("the longest ended at {}\n", longest_text(*row.longest));
    const std::vector<Latency::Bin> bins = shown_bins(latency);
    std::uint64_t most = 1;
    for (const Latency::Bin& bin : bins) most = std::max(most, bin.calls);
    for (const Latency::Bin& bin : bins) {
        out += fmt::format("{:>8} {:>12}  {}\n", human_ns(bin.from_ns), with_commas(bin.calls),
                           bar(bin.calls, most, 50));
    }
    return out;
}

void latency_json(const Loaded& loaded, std::uint32_t function, Json& json) {
    const Latency latency = latency_of(loaded.report, *loaded.profile, function);
    json["calls"] = loaded.report.by_number[function].calls;
    json["timed"] = latency.timed;
    const auto known = [&](std::uint64_t ns) { return json_if(latency.timed != 0, ns); };
    json["raw"] = loaded.report.raw;
    json["min_ns"] = known(latency.min_ns);
    json["mean_ns"] = known(latency.mean_ns);
    for (const auto& [name, part] :
         {std::pair("p50_ns", 500u), {"p90_ns", 900u}, {"p99_ns", 990u}, {"p999_ns", 999u}}) {
        json[name] = known(latency.per_mille_ns(part));
    }
    json["max_ns"] = known(latency.max_ns);
    json["longest"] = json_longest(loaded.report.by_number[function].longest);
    json["bins"] = json_list(latency.bins, [](const Latency::Bin& bin) {
        return Json{bin.from_ns, bin.calls};
    });
}

Exit callers(const FunctionQueryOptions& options) {
    return neighbours(options, "called by", "callers", callers_by_function);
}
Exit callees(const FunctionQueryOptions& options) {
    return neighbours(options, "calls to", "callees", callees_by_function);
}
// Passes the function's calls of the list on.
template <typename Visit>
void for_each_longest(const OutlierSink& longest, const FunctionRow& of, Visit visit) {
    for (const Outlier& call : longest.slowest()) {
        if (longest.place(call.nodes.front().function).address == of.address) visit(call);
    }
}

std::string longest_calls_text(const OutlierSink& longest, const FunctionRow& of) {
    std::vector<Line> lines{{"took", "from", "core", "task", "", ""}};
    for_each_longest(longest, of, [&](const Outlier& call) {
        lines.push_back({human_ns(call.duration()), exact_ns(longest.begin(call)),
                         std::to_string(call.track.core),
                         longest.task(call).empty() ? std::to_string(call.track.context)
                                                    : for_cell(longest.task(call)),
                         call.how == Left::returned ? "" : left_text(call.how), ""});
    });
    return lines.size() == 1 ? "" : "the longest outermost calls, as recorded\n" + table(lines);
}

Exit latency(const FunctionQueryOptions& options) {
    OutlierSink longest(
        [&](const FunctionPlace& place) { return names_function(options.function, place); },
        options.longest);
    const bool lists = options.longest != 0;
    const Loaded loaded = lists ? load_with_events(longest, options.report, std::nullopt, true)
                                : load(options.report, true);
    return answer(
        options, loaded,
        [&](std::uint32_t function) {
            return latency_text(loaded, function) +
                   longest_calls_text(longest, loaded.report.by_number[function]);
        },
        [&](std::uint32_t function, Json& json) {
            latency_json(loaded, function, json);
            if (!lists) return;
            Json& calls = json["longest_calls"] = Json::array();
            for_each_longest(longest, loaded.report.by_number[function], [&](const Outlier& call) {
                calls.push_back({{"duration_ns", call.duration()}});
                calls.back().update(json_of_call(longest, call));
            });
        });
}

Exit stack_depth(const FunctionQueryOptions& options) {
    const Loaded loaded = load(options.report);
    const StackDepth found = deepest(*loaded.profile);
    if (options.report.format == Format::json) {
        const auto place = [&](std::uint32_t function) {
            return json_place(loaded.report.by_number[function]);
        };
        print(json_text({{"depth", found.path.size()},
                         {"calls", found.calls},
                         {"unknown", found.unknown},
                         {"path", json_list(found.path, place)}}));
        return Exit::ok;
    }
    std::string out = fmt::format(
        "{} calls deep{}\n", found.path.size(),
        found.calls > 1 ? fmt::format(", {} times; one of them:", with_commas(found.calls)) : "");
    std::size_t depth = 0;
    for (const std::uint32_t function : found.path) {
        const FunctionRow& row = loaded.report.by_number[function];
        out += fmt::format("{:>5}  {}  {}\n", ++depth, for_cell(row.name), short_place(row));
    }
    if (found.unknown != 0)
        out += fmt::format("of {} calls the depth is not known\n", with_commas(found.unknown));
    print(out + "\n" + integrity_line(loaded.report.integrity) + "\n");
    return Exit::ok;
}

struct Question {
    const char* name;
    const char* help;
    bool has_function;  // takes a function as its argument
    Exit (*ask)(const FunctionQueryOptions&);
    const char* example;
};

Action add_function_query(CLI::App& app, CLI::App*& command, const Question& question) {
    auto options = std::make_shared<FunctionQueryOptions>();
    command = add_command(app, question.name, question.help, {question.example});
    add_recording(command, options->report);
    if (question.has_function) {
        add_function(command, options->function);
    } else {
        add_kept_functions(command, options->report);
    }
    add_choice(command, "--format", options->report.format, formats_without_csv, "Output");
    add_raw(command, options->report.raw);
    add_on_cpu(command, options->report.on_cpu);
    if (question.ask == latency) {
        add_count(command, "--longest", options->longest, 1, 1000,
                  "List the longest calls, too, with their times and cores");
    }
    return [options, ask = question.ask] { return ask(*options); };
}

}  // namespace

Action add_callers(CLI::App& app, CLI::App*& command) {
    return add_function_query(app, command,
                              {"callers", "Who calls a function, how often and for how long", true,
                               callers, "nopscope callers run.nsc malloc"});
}
Action add_callees(CLI::App& app, CLI::App*& command) {
    return add_function_query(app, command,
                              {"callees", "What a function calls, how often and for how long", true,
                               callees, "nopscope callees run.nsc 'luaV_*'"});
}
Action add_latency(CLI::App& app, CLI::App*& command) {
    return add_function_query(app, command,
                              {"latency", "How long a function's calls take, as a distribution",
                               true, latency, "nopscope latency run.nsc on_packet --longest 5"});
}
Action add_stack_depth(CLI::App& app, CLI::App*& command) {
    return add_function_query(app, command,
                              {"stack-depth", "How deep calls get, and on which path", false,
                               stack_depth, "nopscope stack-depth run.nsc"});
}

}  // namespace nopscope::host
