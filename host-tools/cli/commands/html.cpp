// SPDX-License-Identifier: Apache-2.0
// `html` writes a recording as a page for a browser.
#include "host-tools/cli/commands/html.hpp"

#include "host-tools/cli/commands/commands.hpp"
#include "host-tools/views/page/html.hpp"

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

std::string view_of_file(const HtmlOptions& options) {
    Timeline timeline;
    const Loaded loaded = load_with_events(timeline, options.report, std::nullopt, true);
    const std::optional<CodeView> code = code_of_image(options);
    const std::string& path = options.report.file;
    const std::string title =
        options.title.empty() ? path.substr(path.rfind('/') + 1) : options.title;
    return view_json(loaded.report, *loaded.profile, title, default_most_paths,
                     {.timeline = &timeline, .code = code ? &*code : nullptr});
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
        {"nopscope html run.nsc -o report.html"});
    add_recording(command, options->report,
                  "The ELF that was recorded: then the page has the hottest functions' "
                  "instructions and source lines, too");
    add_kept_functions(command, options->report);
    add_value(command, "-o,--output", options->output, kind::file, "The page to write")->required();
    add_source(command, *options);
    command->add_option("--title", options->title, "The page's title (the recording's name)");
    add_raw(command, options->report.raw);
    add_on_cpu(command, options->report.on_cpu);
    add_yes(command, options->yes);
    return [options] {
        const std::string view = view_of_file(*options);
        write_page(options->output, html_page(page_template(), view), options->yes);
        return Exit::ok;
    };
}

}  // namespace nopscope::host
