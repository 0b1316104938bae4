// SPDX-License-Identifier: Apache-2.0
// `html`: a recording as a page.
#include "host-tools/html/html.hpp"

#include "host-tools/commands/load.hpp"
#include "host-tools/export/balanced_stream.hpp"
#include "host-tools/export/output.hpp"

namespace nopscope {

std::string view_of_file(const HtmlOptions& options) {
    Timeline timeline;
    const Loaded loaded = load(options.report, true, [&](const NamedFile& recording) {
        return std::make_unique<BalancedStream>(timeline, [&recording] { return recording.symbols(); },
                                                options.report.file);
    });
    std::optional<CodeView> code;
    if (!options.report.image.empty()) code.emplace(options.report.image, options.source ? options.source_roots : std::vector<std::string>());
    const std::string& path = options.report.file;
    const std::string title = options.title.empty() ? path.substr(path.rfind('/') + 1) : options.title;
    return view_json(loaded.report, *loaded.profile, title, default_most_paths,
                     {.timeline = &timeline, .code = code ? &*code : nullptr});
}

Exit html(const HtmlOptions& options) {
    const std::string view = view_of_file(options);
    Output output(options.output, Output::Kind::file);
    FileWriter file(output.path());
    file.write(html_page(page_template(), view));
    file.close();
    output.commit();
    return Exit::ok;
}

}  // namespace nopscope
