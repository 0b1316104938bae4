// SPDX-License-Identifier: Apache-2.0
// `export`: a recording in another tool's format.
#include <fmt/format.h>

#include <cstdio>

#include "host-tools/base/output.hpp"
#include "host-tools/cli/commands/commands.hpp"
#include "host-tools/cli/commands/load.hpp"
#include "host-tools/views/export/formats.hpp"

namespace nopscope::host {
namespace {

// What was left out, as the sink says.
std::string stream(const ExportOptions& options, const ExportFormat& format, const Output& output) {
    const TimeAxis axis = options.cut_tracer ? TimeAxis::without_tracer : TimeAxis::wall;
    const auto sink = format.stream(output, axis);
    stream_into(*sink, options.report, axis);
    return sink->left_out();
}

std::string aggregate(const ExportOptions& options, const ExportFormat& format, const Output& output) {
    const Loaded loaded = load(options.report);
    say_unknown_sites(options.report, loaded.report.integrity.value("unknown_sites"));
    return format.aggregate(output, {loaded.report, *loaded.profile, options.report.raw});
}

}  // namespace

Exit export_recording(const ExportOptions& options) {
    const ExportFormat* const format = find_export_format(options.format);
    if (format == nullptr) {
        throw Error(fmt::format("--format {}: no such format; there are {}", options.format,
                                export_format_names()),
                    Exit::usage);
    }
    if (options.cut_tracer && format->stream == nullptr) {
        throw Error(fmt::format("--cut-tracer: {} has sums, which are without the tracer's time already", format->name),
                    Exit::usage);
    }
    Output output(options.output, format->kind, format->aggregate == nullptr || options.yes ? any_size : most_unasked_bytes);
    const std::string left_out =
        format->stream != nullptr ? stream(options, *format, output) : aggregate(options, *format, output);
    output.commit();
    if (!left_out.empty()) {
        fmt::print(stderr, "nopscope: {} has no place for {}: left out\n", format->name, left_out);
    }
    return Exit::ok;
}

}  // namespace nopscope::host
