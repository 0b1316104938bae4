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
    std::string title;    // empty: the recording's name
    bool yes = false;     // the page may have more than most_unasked_bytes
    bool embed = true;    // the page gets the recording
    bool viewer = false;  // the page has no recording, and opens any
    bool source = true;   // with an image: show the hottest functions' source lines
    std::vector<std::string> source_roots{"."};  // where relative names are looked up
};

// Adds --no-source and --source-root, which matter with --image.
void add_source(CLI::App* command, HtmlOptions& options);

// Adds --no-recording.
void add_no_recording(CLI::App* command, bool& embed);

// The bytes of a recording that a page carries, with the symbols of `image`. Empty: the page does
// not carry it. Only a part is shown, or the file is read only once, is a raw capture or has more
// than `most` bytes. Of the last a sentence on stderr tells. Throws Error.
std::vector<std::uint8_t> bytes_for_page(const ReportOptions& options,
                                         const std::optional<Symbols>& image, std::uint64_t most);

struct PageOfFile {
    std::string view;  // view_json() (views/page/html.hpp)
    // opening_json() (views/page/recording.hpp). Empty: the page gets no recording.
    std::string opening;
};
// Throws Error.
PageOfFile page_of_file(const HtmlOptions& options);

// `yes`: the page may have more than most_unasked_bytes. Throws Error.
void write_page(const std::string& name, const std::string& page, bool yes);

// Returns the code of the image; nothing if the options name no image. Throws Error.
std::optional<CodeView> code_of_image(const HtmlOptions& options);

}  // namespace nopscope::host
