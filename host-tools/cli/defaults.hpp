// SPDX-License-Identifier: Apache-2.0
// Defaults of a board's options, from a file (docs/cli.md, "Defaults"):
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

// The file that is read: $NOPSCOPE_CONFIG, else ./nopscope.toml, else nopscope/config.toml in
// $XDG_CONFIG_HOME or
// ~/.config. Empty: there is none.
std::string defaults_file();

// The boards that it has sections for, sorted. Empty: it cannot be read, or makes no sense.
std::vector<std::string> boards_of(const std::string& file);

// While `app` parses, sets the options of the parsed command that `file` has a value for, and that
// the command line neither gives nor excludes. `file`: of defaults_file(), not empty. A file that
// makes no sense, or has no such board, is a CLI::FileError from app.parse(), with a sentence and
// the exit code of the command.
void use_defaults(CLI::App& app, const std::string& file);

}  // namespace nopscope::host
