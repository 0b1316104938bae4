// SPDX-License-Identifier: Apache-2.0
// The options that name a target's line and say what the target shall do.
#pragma once

#include <CLI/CLI.hpp>

#include <functional>

#include "host-tools/cli/options.hpp"
#include "host-tools/live/line.hpp"

namespace nopscope::host {

// --from: the URI of a line.
CLI::Option* add_from(CLI::App* command, std::string& from);
// Adds the options of the line, of the image that runs there, and of the target's memory.
void add_line(CLI::App* command, LineOptions& options, const char* image_help);
// --allow-convention: globs of functions that may be traced although it breaks them.
void add_allow_convention(CLI::App* command, std::vector<std::string>& globs);
// Adds the options that choose a request's functions and their recorder.
void add_choice_options(CLI::App* command, Choice& choice, std::string& recorder);
// Adds the options for requests. Call its result after parsing: it sets `options.steering`.
std::function<void()> add_steering(CLI::App* command, LineOptions& options);

}  // namespace nopscope::host
