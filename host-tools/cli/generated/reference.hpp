// SPDX-License-Identifier: Apache-2.0
// Man pages and completions, from the commands' own descriptions: what --help says, they say.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace nopscope::host {

// Of nopscope itself, or of one of its commands.
std::string man_page(const CLI::App& app, const CLI::App* command);
std::string bash_completion(const CLI::App& app);
std::string zsh_completion(const CLI::App& app);
std::string fish_completion(const CLI::App& app);

}  // namespace nopscope::host
