// SPDX-License-Identifier: Apache-2.0
// Writes man pages and completions from the commands' own descriptions, so they agree with --help.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace nopscope::host {

// The page of `command`; null: of nopscope itself.
std::string man_page(const CLI::App& app, const CLI::App* command);
std::string bash_completion(const CLI::App& app);
std::string zsh_completion(const CLI::App& app);
std::string fish_completion(const CLI::App& app);

}  // namespace nopscope::host
