// SPDX-License-Identifier: Apache-2.0
// The formats that a recording can be exported to: one table, from which the help, the errors and the
// command itself come.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "host-tools/base/output.hpp"
#include "host-tools/analysis/events/event_sink.hpp"
#include "host-tools/analysis/report/tree.hpp"

struct sqlite3;

namespace nopscope::host {

struct ExportFormat {
    std::string_view name;
    std::string_view what;  // one line of help
    Output::Kind kind = Output::Kind::file;
    // One of the two.
    std::unique_ptr<EventSink> (*stream)(const Output&, TimeAxis) = nullptr;
    // Returns what was left out, as EventSink::left_out().
    std::string (*aggregate)(const Output&, const Aggregated&) = nullptr;
};

std::span<const ExportFormat> export_formats();
// Null: there is none of that name.
const ExportFormat* find_export_format(std::string_view name);
// "chrome, csv, ...".
std::string export_format_names();

// One file each.
std::unique_ptr<EventSink> chrome_sink(const Output& output, TimeAxis axis);
std::unique_ptr<EventSink> csv_sink(const Output& output, TimeAxis axis);
std::unique_ptr<EventSink> ctf_sink(const Output& output, TimeAxis axis);
std::unique_ptr<EventSink> perfetto_sink(const Output& output, TimeAxis axis);
std::unique_ptr<EventSink> speedscope_sink(const Output& output, TimeAxis axis);
std::unique_ptr<EventSink> sqlite_sink(const Output& output, TimeAxis axis);
std::unique_ptr<EventSink> sqlite_sink(sqlite3* database, TimeAxis axis);  // an empty one, which stays the caller's
std::unique_ptr<EventSink> trace_cmd_sink(const Output& output, TimeAxis axis);
std::unique_ptr<EventSink> uftrace_sink(const Output& output, TimeAxis axis);
std::string write_callgrind(const Output& output, const Aggregated& from);
std::string write_folded(const Output& output, const Aggregated& from);
std::string write_pprof(const Output& output, const Aggregated& from);

}  // namespace nopscope::host
