// SPDX-License-Identifier: Apache-2.0
// `html` writes a recording as a page for a browser.
#include "host-tools/cli/commands/html.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "host-tools/base/file.hpp"
#include "host-tools/base/output.hpp"
#include "host-tools/base/process_memory.hpp"
#include "host-tools/base/say.hpp"
#include "host-tools/cli/commands/commands.hpp"
#include "host-tools/recording/format.hpp"
#include "host-tools/views/engine/engine.hpp"
#include "host-tools/views/page/html.hpp"
#include "host-tools/views/page/recording.hpp"

namespace nopscope::host {

std::optional<CodeView> code_of_image(const HtmlOptions& options) {
    if (options.report.image.empty()) return std::nullopt;
    return std::optional<CodeView>(
        std::in_place, options.report.image,
        options.source ? options.source_roots : std::vector<std::string>());
}

void write_page(const std::string& name, const std::string& page, bool yes) {
    Output output(name, Output::Kind::file, yes ? any_size : most_unasked_bytes);
    FileWriter file(output);
    file.expect(page.size());
    file.write(page);
    file.close();
    output.commit();
}

std::vector<std::uint8_t> bytes_for_page(const ReportOptions& options,
                                         const std::optional<Symbols>& image, std::uint64_t most) {
    const std::string_view magic(reinterpret_cast<const char*>(nsc::magic), sizeof nsc::magic);
    if (!options.part.whole() || !options.calls.all() || !begins_with(options.file, magic))
        return {};
    const std::uint64_t bytes = FileParts(options.file).bytes();
    if (bytes > most) {
        say(
            fmt::format("{}: more than {} MB are too much for a page, which has only a part of its "
                        "timeline and cannot select",
                        options.file, most / 1'000'000));
        return {};
    }
    allow_memory(4 * bytes);  // as it is, and as text, twice
    std::vector<std::uint8_t> recording = read_whole_file(options.file);
    return image ? with_symbols(recording, *image) : recording;
}

namespace {

// `engine` has made the page's view.
std::string opening_of(const HtmlOptions& options, const std::optional<Symbols>& image,
                       Engine& engine) {
    const ReportOptions& report = options.report;
    if (!options.embed) return {};
    const std::vector<std::uint8_t> recording = bytes_for_page(report, image, most_embedded_bytes);
    if (recording.empty()) return {};
    return opening_json({.bytes = recording,
                         .file = std::filesystem::path(report.file).filename().string(),
                         .title = options.title,
                         .functions = engine.functions(),
                         .raw = report.raw,
                         .on_cpu = report.on_cpu});
}

// A page without data.
std::string viewer_page(const HtmlOptions& options) {
    return html_page(page_template(), "null",
                     opening_json({.raw = options.report.raw, .on_cpu = options.report.on_cpu}));
}

// --viewer excludes the options that the command has so far.
void add_viewer(CLI::App* command, HtmlOptions& options) {
    const std::vector<CLI::Option*> others = command->get_options();
    CLI::Option* const viewer = command->add_flag(
        "--viewer", options.viewer,
        "A page without a recording, which opens recordings that are dropped on it");
    for (CLI::Option* const other : others) {
        if (other != command->get_help_ptr()) viewer->excludes(other);
    }
}

Exit html(const HtmlOptions& options) {
    if (options.viewer) {
        write_page(options.output, viewer_page(options), options.yes);
        return Exit::ok;
    }
    if (options.report.file.empty())
        throw Error("html: expected a recording, or --viewer", Exit::usage);
    const PageOfFile page = page_of_file(options);
    write_page(options.output, html_page(page_template(), page.view, page.opening), options.yes);
    return Exit::ok;
}

}  // namespace

PageOfFile page_of_file(const HtmlOptions& options) {
    const std::optional<Symbols> image = symbols_of_image(options.report);
    Engine engine;
    or_throw(engine.open(input_of_file(options.report.file), options.report, options.title, image));
    say_all(engine.warnings());
    const std::optional<CodeView> code = code_of_image(options);
    return {.view = engine.view(code_part(code ? &*code : nullptr)),
            .opening = opening_of(options, image, engine)};
}

void add_no_recording(CLI::App* command, bool& embed) {
    command->add_flag(
        "!--no-recording", embed,
        "Without recordings: a smaller page, whose timeline has only the longest calls");
}

void add_source(CLI::App* command, HtmlOptions& options) {
    command->add_flag("!--no-source", options.source,
                      "Instructions without the text of source files");
    add_value(command, "--source-root", options.source_roots, kind::directory,
              "Where source files with a relative name are looked for (.); PREFIX=DIRECTORY: what "
              "stands for PREFIX/ in their names; may be repeated");
}

Action add_html(CLI::App& app, CLI::App*& command) {
    auto options = std::make_shared<HtmlOptions>();
    command = add_command(
        app, "html",
        "Write a page for a browser: flame graph, timeline, functions, callers and callees",
        {"nopscope html run.nsc -o report.html", "nopscope html --viewer -o viewer.html"});
    add_recording(command, options->report,
                  "The ELF that was recorded: then the page has the hottest functions' "
                  "instructions and source lines, too")
        ->required(false);
    add_kept_functions(command, options->report);
    add_source(command, *options);
    add_no_recording(command, options->embed);
    command->add_option("--title", options->title, "The page's title (the recording's name)");
    add_viewer(command, *options);
    add_value(command, "-o,--output", options->output, kind::file, "The page to write")->required();
    add_raw(command, options->report.raw);
    add_on_cpu(command, options->report.on_cpu);
    add_yes(command, options->yes);
    return [options] { return html(*options); };
}

}  // namespace nopscope::host
