// SPDX-License-Identifier: Apache-2.0
#include "host-tools/views/export/formats.hpp"
#include "host-tools/base/text.hpp"

namespace nopscope::host {
namespace {

using enum Output::Kind;

constexpr ExportFormat formats[] = {
    {"callgrind", "sums by function and call: callgrind_annotate, KCachegrind", file, nullptr,
     write_callgrind},
    {"chrome", "JSON of every call: ui.perfetto.dev, speedscope.app", file, chrome_sink, nullptr},
    {"csv", "a table with a line for each call and event", file, csv_sink, nullptr},
    {"ctf", "a CTF 1.8 directory of every call and event: babeltrace2, Trace Compass", directory,
     ctf_sink, nullptr},
    {"folded", "sums by call path, one a line: flamegraph.pl, inferno", file, nullptr,
     write_folded},
    {"perfetto", "every call and event: ui.perfetto.dev, trace_processor", file, perfetto_sink,
     nullptr},
    {"pprof", "sums by call path: go tool pprof", file, nullptr, write_pprof},
    {"speedscope", "every call: speedscope.app", file, speedscope_sink, nullptr},
    {"sqlite", "tables of every call and event: sqlite3", file, sqlite_sink, nullptr},
    {"trace-cmd", "trace.dat of every call and event: trace-cmd report, KernelShark", file,
     trace_cmd_sink, nullptr},
    {"uftrace", "a directory with every call: uftrace report, graph, tui -d", directory,
     uftrace_sink, nullptr},
};

}  // namespace

std::span<const ExportFormat> export_formats() { return formats; }

const ExportFormat* find_export_format(std::string_view name) {
    for (const ExportFormat& format : formats) {
        if (format.name == name) return &format;
    }
    return nullptr;
}

std::string export_format_names() {
    std::string names;
    for (const ExportFormat& format : formats) {
        if (!names.empty()) names += ", ";
        names += format.name;
    }
    return names;
}

std::string left_out_of_sums(const Report& report) {
    std::uint64_t values = 0;
    std::uint64_t counters = 0;
    for (const CapturedRow& row : report.captured) values += row.series.count;
    for (const auto& [id, series] : report.counters) counters += series.count;
    std::string text;
    add_count(text, report.missing.size(), "gaps");
    if (!takes_profile(report))
        add_count(text, report.profile.size(), "functions of the target's profile");
    add_count(text, report.marks.size(), "marks");
    add_count(text, counters, "counter values");
    add_count(text, values, "captured values");
    return text;
}

}  // namespace nopscope::host
