// SPDX-License-Identifier: Apache-2.0
// What man pages say beyond the options: tables, of which a page takes the rows of its command.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace nopscope::host {

struct ManualRow {
    std::string_view name;
    std::string_view text;
    std::string_view commands =
        {};  // separated by blanks; empty: each, and the page of nopscope itself
};

std::span<const ManualRow> exit_codes();
std::span<const ManualRow> environment();
std::span<const ManualRow> files();
// Of a command: pages to read next, separated by blanks: "nopscope-report(1) gdb-multiarch(1)".
// Empty: of nopscope itself.
std::string_view related_pages(std::string_view command);

// Is the row in the page of this command? Empty: in nopscope's, which has all rows.
bool is_about(const ManualRow& row, std::string_view command);

// The exit codes as a paragraph for --help.
std::string exit_codes_help();

}  // namespace nopscope::host
