// SPDX-License-Identifier: Apache-2.0
// What `html` shares with other commands that make a page.
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
    bool source = true;  // with an image: show the hottest functions' source lines
    std::vector<std::string> source_roots{"."};  // where relative names are looked up
};

// Adds --no-source and --source-root, which matter with --image.
void add_source(CLI::App* command, HtmlOptions& options);

// Returns the data that a page shows of a recording, from view_json() (views/page/html.hpp).
std::string view_of_file(const HtmlOptions& options);

// `yes`: the page may have more than most_unasked_bytes. Throws Error.
void write_page(const std::string& name, const std::string& page, bool yes);

// Returns the code of the image; nothing if the options name no image. Throws Error.
std::optional<CodeView> code_of_image(const HtmlOptions& options);

}  // namespace nopscope::host
