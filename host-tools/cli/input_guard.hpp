// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace nopscope::host {

// Throws Error, Exit::usage, if an output of the parsed `command`, or standard output, is one of
// its inputs: a recording, an image, --from file:, or `defaults` (the file of defaults that is in
// use; empty: none). Two outputs may not be one file either. Call it before the command runs.
void guard_inputs(const CLI::App& command, const std::string& defaults);

}  // namespace nopscope::host
