// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace nopscope::host {

// Throws Error (Exit::usage) if an output of the parsed `command`, or standard output, is also an
// input, or if two outputs are one file. Inputs are recordings, images, --from file:, and
// `defaults` (the file of defaults in use; empty: none). Call it before the command runs.
void guard_inputs(const CLI::App& command, const std::string& defaults);

}  // namespace nopscope::host
