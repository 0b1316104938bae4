// SPDX-License-Identifier: Apache-2.0
// The export formats of a recording: one table for the help, the errors and the command.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "host-tools/base/output.hpp"
#include "host-tools/calls/event_sink.hpp"
#include "host-tools/figures/report/tree.hpp"

struct sqlite3;

namespace nopscope::host {

struct ExportFormat {
    std::string_view name;
    std::string_view what;  // one line of help
    Output::Kind kind = Output::Kind::file;
    // A format has one of these two.
    std::unique_ptr<EventSink> (*stream)(const Output&, TimeAxis) = nullptr;
    // Returns a sentence about what was left out, as EventSink::left_out() does.
    std::string (*aggregate)(const Output&, const Aggregated&) = nullptr;
};

std::span<const ExportFormat> export_formats();
// Returns null if no format has this name.
const ExportFormat* find_export_format(std::string_view name);
// "chrome, csv, ...".
std::string export_format_names();

// Items that formats with sums leave out (marks, counters, values, gaps), as by
// EventSink::left_out().
std::string left_out_of_sums(const Report& report);

// The writers of the formats, one file each.
std::unique_ptr<EventSink> chrome_sink(const Output& output, TimeAxis axis);
std::unique_ptr<EventSink> csv_sink(const Output& output, TimeAxis axis);
std::unique_ptr<EventSink> ctf_sink(const Output& output, TimeAxis axis);
std::unique_ptr<EventSink> perfetto_sink(const Output& output, TimeAxis axis);
std::unique_ptr<EventSink> speedscope_sink(const Output& output, TimeAxis axis);
std::unique_ptr<EventSink> sqlite_sink(const Output& output, TimeAxis axis);
// `database` is empty, and the caller owns it.
std::unique_ptr<EventSink> sqlite_sink(sqlite3* database, TimeAxis axis);
std::unique_ptr<EventSink> trace_cmd_sink(const Output& output, TimeAxis axis);
std::unique_ptr<EventSink> uftrace_sink(const Output& output, TimeAxis axis);
std::string write_callgrind(const Output& output, const Aggregated& from);
std::string write_folded(const Output& output, const Aggregated& from);
std::string write_pprof(const Output& output, const Aggregated& from);

}  // namespace nopscope::host
