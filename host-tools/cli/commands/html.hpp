// SPDX-License-Identifier: Apache-2.0
// What `html` shares with the other commands that make a page.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "host-tools/cli/commands/load.hpp"
#include "host-tools/views/page/code.hpp"

namespace nopscope::host {

struct HtmlOptions {
    ReportOptions report;  // file, image, raw
    std::string output;
    std::string title;   // empty: the recording's name
    bool yes = false;    // the page may have more than most_unasked_bytes
    bool source = true;  // with an image: the lines of source that its hottest functions are of;
                         // relative names are looked up in
    std::vector<std::string> source_roots{"."};
};

// --no-source and --source-root: with --image a page has the hottest functions' instructions.
void add_source(CLI::App* command, HtmlOptions& options);

// What a page shows of a recording: view_json() (views/page/html.hpp).
std::string view_of_file(const HtmlOptions& options);

// `yes`: it may have more than most_unasked_bytes. Throws Error.
void write_page(const std::string& name, const std::string& page, bool yes);

// The hottest functions' instructions; nothing: no image is given. Throws Error.
std::optional<CodeView> code_of_image(const HtmlOptions& options);

}  // namespace nopscope::host
