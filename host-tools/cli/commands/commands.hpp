// SPDX-License-Identifier: Apache-2.0
// The subcommands: one function each, which main calls with its parsed options.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "host-tools/base/error.hpp"
#include "host-tools/live/line.hpp"
#include "host-tools/live/series.hpp"
#include "host-tools/analysis/report/report.hpp"

namespace nopscope::host {

enum class Format : std::uint8_t { text, json, csv };

struct RecordOptions {
    LineOptions line;
    std::string output;
    std::string raw;  // where the line's bytes go, too; empty: nowhere
    double duration_seconds = 0;  // 0: no limit
    bool until_end = true;        // stop when every core has sent its final stats
    bool quiet = false;           // neither console nor progress
    std::optional<Rotation> rotation;  // the output's name is that of a series
};
Exit record(const RecordOptions& options);

struct CtlOptions {
    std::string from;  // the line; or
    std::string via;   // a recorder's control socket
    std::string image;
    ControlRequest request;
};
Exit ctl(const CtlOptions& options);

struct ReportOptions {
    std::string file;
    std::string image;
    Format format = Format::text;
    SortKey sort = SortKey::self;
    std::size_t top = 0;
    bool raw = false;  // show times as recorded
    GraphOptions graph;
    bool yes = false;  // graph: more than most_unasked_bytes may be written
};
Exit report(const ReportOptions& options);
Exit graph(const ReportOptions& options);

struct FunctionQueryOptions {
    ReportOptions report;  // file, image, format, raw
    std::string function;  // a name or a glob
    std::size_t count = 3;      // outliers: how many, and
    double min_percent = 1;     // what of a call its tree shows
};
Exit callers(const FunctionQueryOptions& options);
Exit callees(const FunctionQueryOptions& options);
Exit latency(const FunctionQueryOptions& options);
Exit stack_depth(const FunctionQueryOptions& options);
Exit outliers(const FunctionQueryOptions& options);
Exit irq(const FunctionQueryOptions& options);

struct ExportOptions {
    ReportOptions report;  // file, image, raw
    std::string format;    // a name of export_formats()
    std::string output;
    bool cut_tracer = false;
    bool yes = false;  // sums may have more than most_unasked_bytes
};
Exit export_recording(const ExportOptions& options);

struct QueryOptions {
    ReportOptions report;  // file (also a database that `export` wrote), image, format
    std::string sql;
};
Exit query(const QueryOptions& options);

struct DiffOptions {
    ReportOptions report;  // image, raw
    std::vector<std::string> before;
    std::vector<std::string> after;
    enum Format : std::uint8_t { text, json, folded } format = text;
    std::string page;                  // a differential flame graph to write; empty: none
    std::optional<double> fail_above;  // percent
    double min_percent = 0.1;          // of all functions' own time: smaller ones are counted, not shown
    bool yes = false;                  // an output may have more than most_unasked_bytes
    std::size_t most = 30;             // rows of a table
};
Exit diff(const DiffOptions& options);

struct HtmlOptions {
    ReportOptions report;  // file, image, raw
    std::string output;
    std::string title;  // empty: the recording's name
    bool yes = false;   // the page may have more than most_unasked_bytes
    bool source = true;  // with an image: the lines of source that its hottest functions are of; relative names are looked up in
    std::vector<std::string> source_roots{"."};
};
Exit html(const HtmlOptions& options);

struct ServeOptions {
    HtmlOptions page;    // its report's file, or nothing; title: empty: that of a line is its URI
    LineOptions line;    // from, or nothing
    std::string output;  // of a line: the recording on the side; empty: none
    std::string listen;  // an address and a port
    std::string token;   // that each request brings; empty: as the address wants it
};
Exit serve(const ServeOptions& options);

struct InfoOptions {
    std::string file;
    Format format = Format::text;
    bool sites = false;
};
Exit info(const InfoOptions& options);

struct DoctorOptions {
    std::string from;            // a line to listen to; empty: none
    std::string image;           // an ELF to look at; empty: none
    std::string defaults_file;   // that is in use; empty: none
    std::string devices = "/dev";  // where serial ports are
    double seconds = 3;          // to listen for
    Format format = Format::text;
};
Exit doctor(const DoctorOptions& options);

struct CheckOptions {
    std::string image;
    std::vector<std::string> allow;  // functions whose address may be taken without a landing pad
    std::optional<bool> bti;         // whether the CPU enforces BTI; nothing: as the image tells
    bool verbose = false;
    Format format = Format::text;
};
Exit check(const CheckOptions& options);

struct NamesOptions {
    std::string image;
    std::string output;  // empty: standard output
};
Exit names(const NamesOptions& options);

}  // namespace nopscope::host
