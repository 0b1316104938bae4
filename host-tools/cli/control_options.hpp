// SPDX-License-Identifier: Apache-2.0
// The command line's options that are about a line and what its target does.
#pragma once

#include <CLI/CLI.hpp>

#include <functional>

#include "host-tools/cli/options.hpp"
#include "host-tools/live/line.hpp"

namespace nopscope::host {

// The line, what runs there, and what is its memory.
void add_line(CLI::App* command, LineOptions& options, const char* image_help);
// Which functions a request is about, and what of them is recorded.
void add_choice_options(CLI::App* command, Choice& choice, std::string& recorder);
// Returns what is to be called when `command` has been parsed: it sets `options`' steering.
std::function<void()> add_steering(CLI::App* command, LineOptions& options);

}  // namespace nopscope::host
