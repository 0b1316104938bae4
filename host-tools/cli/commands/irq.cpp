// SPDX-License-Identifier: Apache-2.0
// `irq` shows the interrupts that firmware reports (tracer/include/nopscope/interrupts.hpp).
#include <iterator>
#include <map>

#include "host-tools/cli/commands/commands.hpp"
#include "host-tools/cli/commands/load.hpp"
#include "host-tools/figures/function_queries/function_queries.hpp"
#include "host-tools/views/json/report.hpp"
#include "host-tools/views/text/head.hpp"
#include "host-tools/views/text/table.hpp"

namespace nopscope::host {
namespace {

struct Interrupt {
    const FunctionRow* row = nullptr;
    Latency latency;
};

std::vector<Interrupt> interrupts_of(const Loaded& loaded) {
    std::vector<Interrupt> list;
    for (const auto& [offset, number] : loaded.profile->functions().interrupts()) {
        list.push_back(
            {&loaded.report.by_number[number], latency_of(loaded.report, *loaded.profile, number)});
    }
    return list;
}

// Each core's longest masked time in any session.
std::map<unsigned, const MaskedRow*> longest_masked(const Report& report) {
    std::map<unsigned, const MaskedRow*> longest;
    for (const MaskedRow& row : report.masked) {
        const MaskedRow*& known = longest[row.core];
        if (known == nullptr || row.length_ns > known->length_ns) known = &row;
    }
    return longest;
}

std::string text(const Loaded& loaded) {
    const Report& report = loaded.report;
    std::string out;
    std::vector<Line> lines{
        {"interrupt", "calls", "total", "load", "min", "p50", "p99", "max", ""}};
    for (const Interrupt& one : interrupts_of(loaded)) {
        const auto time = [&](std::uint64_t ns) {
            return one.latency.timed != 0 ? human_ns(ns) : std::string("-");
        };
        const std::uint64_t total = one.row->shown(report.raw).total_ns;
        const double cores = static_cast<double>(report.duration_ns) * report.cores;
        lines.push_back(
            {std::to_string(*one.row->interrupt), with_commas(one.row->calls), human_ns(total),
             fmt::format("{:.2f}%", cores > 0 ? 100 * static_cast<double>(total) / cores : 0),
             time(one.latency.min_ns), time(one.latency.per_mille_ns(500)),
             time(one.latency.per_mille_ns(990)), time(one.latency.max_ns), ""});
    }
    out += lines.size() == 1
               ? "no interrupt was recorded: the firmware tells of them (docs/integration.md)\n"
               : table(lines);
    const auto longest = longest_masked(report);
    out += longest.empty() ? "\nnothing is known of when interrupts were masked\n"
                           : "\nlongest with interrupts masked\n";
    for (const auto& [core, row] : longest) {
        const std::string where = short_place(*row);
        fmt::format_to(std::back_inserter(out), "{:>10}  core {}, up to {}{}  {}{}{}\n",
                       human_ns(row->length_ns), core, human_ns(row->at_ns),
                       report.sessions > 1 ? fmt::format(" of session {}", row->session + 1) : "",
                       for_cell(row->name), where.empty() ? "" : "  ", where);
    }
    return out + "\n" + integrity_line(report.integrity) + "\n";
}

Json json(const Loaded& loaded) {
    const auto interrupt = [&](const Interrupt& one) {
        const auto time = [&](std::uint64_t ns) { return json_if(one.latency.timed != 0, ns); };
        const RowTimes& times = one.row->shown(loaded.report.raw);
        return Json{{"interrupt", *one.row->interrupt},
                    {"calls", one.row->calls},
                    {"total_ns", times.total_ns},
                    {"self_ns", times.self_ns},
                    {"min_ns", time(one.latency.min_ns)},
                    {"mean_ns", time(one.latency.mean_ns)},
                    {"p50_ns", time(one.latency.per_mille_ns(500))},
                    {"p99_ns", time(one.latency.per_mille_ns(990))},
                    {"max_ns", time(one.latency.max_ns)}};
    };
    return {{"interrupts", json_list(interrupts_of(loaded), interrupt)},
            {"masked", json_masked(loaded.report)}};
}

Exit irq(const ReportOptions& options) {
    const Loaded loaded = load(options, true);
    print(options.format == Format::json ? json_text(json(loaded)) : text(loaded));
    return Exit::ok;
}

}  // namespace

Action add_irq(CLI::App& app, CLI::App*& command) {
    auto options = std::make_shared<ReportOptions>();
    command = add_command(app, "irq", "How long interrupts take, and how long they are masked",
                          {"nopscope irq run.nsc"});
    add_recording(command, *options);
    add_kept_functions(command, *options);
    add_choice(command, "--format", options->format, formats_without_csv, "Output");
    add_raw(command, options->raw);
    return [options] { return irq(*options); };
}

}  // namespace nopscope::host
