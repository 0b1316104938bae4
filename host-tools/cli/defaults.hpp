// SPDX-License-Identifier: Apache-2.0
// Reads the defaults of a board's options from a file (docs/cli.md, "Defaults"):
//
//     board = "rpi4"                  # which of the sections below, without --board
//     [rpi4]                          # for all commands that have such an option
//     from = "serial:/dev/ttyUSB0?baud=1500000"
//     image = "build/rpi4/firmware/demo.elf"
//     [rpi4.report]                   # for one command
//     top = 20
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace nopscope::host {

// Returns the file that holds the defaults: $NOPSCOPE_CONFIG, else ./nopscope.toml, else
// nopscope/config.toml in $XDG_CONFIG_HOME or ~/.config. Empty: there is no such file.
std::string defaults_file();

// Returns the boards that have a section in `file`, sorted. Empty: it is unreadable or invalid.
std::vector<std::string> boards_of(const std::string& file);

// Makes app.parse() set options of the parsed command from `file`. It sets an option only if the
// command line neither gives nor excludes it. `file`: from defaults_file(), not empty. app.parse()
// throws CLI::FileError, with a sentence and the command's exit code, if the file is invalid or
// does not have the board.
void use_defaults(CLI::App& app, const std::string& file);

}  // namespace nopscope::host
