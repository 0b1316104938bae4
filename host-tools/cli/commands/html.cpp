// SPDX-License-Identifier: Apache-2.0
// `html`: a recording as a page.
#include "host-tools/views/page/html.hpp"

#include "host-tools/base/output.hpp"
#include "host-tools/cli/commands/load.hpp"
#include "host-tools/analysis/events/balanced_stream.hpp"

namespace nopscope::host {

std::optional<CodeView> code_of_image(const HtmlOptions& options) {
    if (options.report.image.empty()) return std::nullopt;
    return std::optional<CodeView>(std::in_place, options.report.image,
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
    const Loaded loaded = load(options.report, true, [&](const NamedFile& recording) {
        return std::make_unique<BalancedStream>(timeline, [&recording] { return recording.symbols(); },
                                                options.report.file, std::nullopt);
    });
    const std::optional<CodeView> code = code_of_image(options);
    const std::string& path = options.report.file;
    const std::string title = options.title.empty() ? path.substr(path.rfind('/') + 1) : options.title;
    return view_json(loaded.report, *loaded.profile, title, default_most_paths,
                     {.timeline = &timeline, .code = code ? &*code : nullptr});
}

Exit html(const HtmlOptions& options) {
    const std::string view = view_of_file(options);
    write_page(options.output, html_page(page_template(), view), options.yes);
    return Exit::ok;
}

}  // namespace nopscope::host
