// SPDX-License-Identifier: Apache-2.0
// Prepares the command line for CLI11, and explains in one sentence why CLI11 refused it.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace nopscope::host {

// Options may precede the command. Returns `words` with the command's name moved to the front, or
// `words` unchanged if they name no command.
std::vector<std::string> command_first(const CLI::App& app, std::vector<std::string> words);

// "there is no command reprot: did you mean report?"
std::string unknown_command(const CLI::App& app, const std::string& name);
// Explains why app.parse() threw `error`: what is wrong, where, and what to do, in one sentence.
std::string usage_sentence(const CLI::App& app, const CLI::ParseError& error);

// Old names of options: --help, man pages and completions do not show them.
//
// Returns "--trace" for record's "--filter", and a current name unchanged. `value`: the option's
// value; "--mode profile" is an old spelling, "--mode flight" is not.
std::string current_option(std::string_view command, const std::string& option,
                           std::string_view value = {});
// Does the same, and prints the current spelling for the user if `option` is an old name.
std::string used_option(std::string_view command, const std::string& option,
                        std::string_view value);

// used_option() for each word of `words`: a command's name and its arguments.
void use_current_options(std::vector<std::string>& words);

}  // namespace nopscope::host
