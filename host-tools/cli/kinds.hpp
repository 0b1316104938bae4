// SPDX-License-Identifier: Apache-2.0
// The kinds of options' values. --help and man pages show a kind as the option's type name, and
// completions choose from it what they offer.
#pragma once

namespace nopscope::host::kind {

inline constexpr char board[] = "NAME";  // a section of nopscope.toml
inline constexpr char command[] = "COMMAND";
inline constexpr char directory[] = "DIRECTORY";
inline constexpr char elf[] = "ELF";
inline constexpr char event[] = "EVENT";  // a PMU event
inline constexpr char file[] = "FILE";
inline constexpr char glob[] = "GLOB";  // a pattern for function names
inline constexpr char recording[] = "RECORDING";
inline constexpr char request[] = "REQUEST";  // a verb of `ctl`
inline constexpr char uri[] = "URI";          // the address of a line

}  // namespace nopscope::host::kind
