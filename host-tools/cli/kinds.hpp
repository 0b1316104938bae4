// SPDX-License-Identifier: Apache-2.0
// What an option's value is, in a word: its type name in --help and man pages, from which
// completions know what to offer.
#pragma once

namespace nopscope::host::kind {

inline constexpr char board[] = "NAME";  // a section of nopscope.toml
inline constexpr char command[] = "COMMAND";
inline constexpr char directory[] = "DIRECTORY";
inline constexpr char elf[] = "ELF";
inline constexpr char event[] = "EVENT";  // of the PMU
inline constexpr char file[] = "FILE";
inline constexpr char glob[] = "GLOB";  // of functions' names
inline constexpr char recording[] = "RECORDING";
inline constexpr char request[] = "REQUEST";  // of ctl
inline constexpr char uri[] = "URI";          // of a line

}  // namespace nopscope::host::kind
