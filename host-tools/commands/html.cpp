// SPDX-License-Identifier: Apache-2.0
// `html`: a recording as a page.
#include "host-tools/html/html.hpp"

#include "host-tools/base/file.hpp"
#include "host-tools/commands/load.hpp"

namespace nopscope {

Exit html(const HtmlOptions& options) {
    const Loaded loaded = load(options.report, true);
    const std::string& path = options.report.file;
    const std::string title = options.title.empty() ? path.substr(path.rfind('/') + 1) : options.title;
    write_whole_file(options.output,
                     html_page(page_template(), view_json(loaded.report, *loaded.profile, title)));
    return Exit::ok;
}

}  // namespace nopscope
