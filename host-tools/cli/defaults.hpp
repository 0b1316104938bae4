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

namespace nopscope {

// The file that is read: $NOPSCOPE_CONFIG, else ./nopscope.toml, else nopscope/config.toml in $XDG_CONFIG_HOME or
// ~/.config. Empty: there is none.
std::string defaults_file();

// `words` of a command line, and behind them the options that the file has for this command and that they do not
// give. Throws Error, Exit::usage, where the file makes no sense, or has no such board.
std::vector<std::string> with_defaults(const CLI::App& app, std::vector<std::string> words, const std::string& file);

}  // namespace nopscope
