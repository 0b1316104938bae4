// SPDX-License-Identifier: Apache-2.0
// Man pages and completions come from the commands' own descriptions, so they agree with --help.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace nopscope::host {

// The page of `command`; null: of nopscope itself.
std::string man_page(const CLI::App& app, const CLI::App* command);

// The exit codes as a paragraph for --help.
std::string exit_codes_help();

// Scripts, which ask `nopscope __complete WORDS`.
extern const char* const bash_completion;
extern const char* const zsh_completion;
extern const char* const fish_completion;
// What that command prints. `pieces`: the words behind "nopscope", up to the one to complete. A
// shell may have split them at ":" and "=".
std::string completion(const CLI::App& app, const std::vector<std::string>& pieces);

}  // namespace nopscope::host
