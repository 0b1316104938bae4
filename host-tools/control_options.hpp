// SPDX-License-Identifier: Apache-2.0
// The command line's options that are about what a target does.
#pragma once

#include <CLI/CLI.hpp>

#include <functional>

#include "host-tools/commands/commands.hpp"

namespace nopscope {

// Returns what is to be called when `command` has been parsed: it sets `options`' steering.
std::function<void()> add_steering(CLI::App* command, RecordOptions& options);

std::function<Exit()> add_ctl(CLI::App& app, CLI::App*& command);

}  // namespace nopscope
