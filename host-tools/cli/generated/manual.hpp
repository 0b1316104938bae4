// SPDX-License-Identifier: Apache-2.0
// The tables that man pages have besides the options. A page shows the rows of its command.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace nopscope::host {

struct ManualRow {
    std::string_view name;
    std::string_view text;
    std::string_view commands = {};  // separated by blanks; empty: each, and nopscope's own page
};

std::span<const ManualRow> exit_codes();
std::span<const ManualRow> environment();
std::span<const ManualRow> files();
// Returns the pages to read after a command's, separated by blanks: "nopscope-report(1)
// gdb-multiarch(1)". An empty `command` means nopscope itself.
std::string_view related_pages(std::string_view command);

// Whether the page of `command` has the row. If `command` is empty: true, for nopscope's page.
bool is_about(const ManualRow& row, std::string_view command);

// The exit codes as a paragraph for --help.
std::string exit_codes_help();

}  // namespace nopscope::host
