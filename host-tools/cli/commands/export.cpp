// SPDX-License-Identifier: Apache-2.0
// `export` writes a recording in another tool's format.
#include <cstdio>

#include "host-tools/cli/commands/commands.hpp"
#include "host-tools/cli/commands/load.hpp"
#include "host-tools/views/export/formats.hpp"

namespace nopscope::host {
namespace {

struct ExportOptions {
    ReportOptions report;  // file, image, raw
    std::string format;    // a name of export_formats()
    std::string output;
    bool cut_tracer = false;
    bool yes = false;  // the output of a format with sums may have more than most_unasked_bytes
};

// Writes the recording. Returns the sink's sentence about what it left out.
std::string stream(const ExportOptions& options, const ExportFormat& format, const Output& output) {
    const TimeAxis axis = options.cut_tracer ? TimeAxis::without_tracer : TimeAxis::wall;
    const auto sink = format.stream(output, axis);
    stream_into(*sink, options.report, axis);
    return sink->left_out();
}

std::string aggregate(const ExportOptions& options, const ExportFormat& format,
                      const Output& output) {
    const Loaded loaded = load(options.report);
    say_unknown_sites(options.report, loaded.report.integrity.value("unknown_sites"));
    return format.aggregate(output, {loaded.report, *loaded.profile, options.report.raw});
}

Exit export_recording(const ExportOptions& options) {
    const ExportFormat* const format = find_export_format(options.format);
    if (format == nullptr) {
        throw Error(fmt::format("--format {}: no such format; there are {}", options.format,
                                export_format_names()),
                    Exit::usage);
    }
    if (options.cut_tracer && format->stream == nullptr) {
        throw Error(
            fmt::format("--cut-tracer: {} has sums, which are without the tracer's time already",
                        format->name),
            Exit::usage);
    }
    Output output(options.output, format->kind,
                  format->aggregate == nullptr || options.yes ? any_size : most_unasked_bytes);
    const std::string left_out = format->stream != nullptr ? stream(options, *format, output)
                                                           : aggregate(options, *format, output);
    output.commit();
    if (!left_out.empty()) {
        fmt::print(stderr, "nopscope: {} has no place for {}: left out\n", format->name, left_out);
    }
    return Exit::ok;
}

}  // namespace

Action add_export(CLI::App& app, CLI::App*& command) {
    auto options = std::make_shared<ExportOptions>();
    std::vector<std::string> names;
    std::string list = "Formats:\n";
    for (const ExportFormat& format : export_formats()) {
        names.emplace_back(format.name);
        list += fmt::format("  {:<11}{}\n", format.name, format.what);
    }
    command = add_command(app, "export", "Write a recording in another tool's format",
                          {"nopscope export run.nsc --format perfetto -o run.perfetto-trace",
                           "nopscope export run.nsc --format callgrind -o callgrind.out.run"},
                          list + "Details: docs/exports.md.");
    add_recording(command, options->report);
    add_kept_functions(command, options->report);
    add_word(command, "--format", options->format, names, "The format")->required();
    add_value(command, "-o,--output", options->output, kind::file,
              "The file or directory to write; a file is compressed if its name ends in .gz")
        ->required();
    command->add_flag("--raw", options->report.raw,
                      "Sum formats: times as recorded, with the recording overhead left in");
    command->add_flag("--on-cpu", options->report.on_cpu,
                      "Sum formats: times on the CPU, only while their tasks ran");
    command->add_flag("--cut-tracer", options->cut_tracer,
                      "Event formats: stop the clock while a core works for the tracer, so that "
                      "durations are those of report --raw; one core only");
    add_yes(command, options->yes);
    return [options] { return export_recording(*options); };
}

}  // namespace nopscope::host
