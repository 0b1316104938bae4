// SPDX-License-Identifier: Apache-2.0
// The command line before CLI11 reads it, and the sentence for a person when CLI11 cannot.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace nopscope::host {

// Options may stand before the command: `words` with the command's name in front of them. Without a
// command: as they are.
std::vector<std::string> command_first(const CLI::App& app, std::vector<std::string> words);

// "there is no command reprot: did you mean report?"
std::string unknown_command(const CLI::App& app, const std::string& name);
// Why app.parse() threw: what is wrong, where, and what to do, in one sentence.
std::string usage_sentence(const CLI::App& app, const CLI::ParseError& error);

}  // namespace nopscope::host
