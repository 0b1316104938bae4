// SPDX-License-Identifier: Apache-2.0
// No output may replace what its own command reads. Files are the same by device and inode, so
// links do not hide one.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>

namespace nopscope::host {

// "/dev/fd/3" -> 3, "/proc/self/fd/1" -> 1. Nothing: it is no such name.
std::optional<int> open_descriptor(const std::filesystem::path& path);

// The path without symbolic links, also where the last link leads to no file yet. Relative to the
// working directory if `path` is. The name of an open descriptor ends it (/dev/stdout ->
// /proc/self/fd/1). Never throws: what cannot be read ends it, too.
std::filesystem::path follow_links(const std::filesystem::path& path);

// Throws Error, Exit::usage, if writing to `output` would change a file of `inputs`: it is the same
// file, or a directory that holds it. "-" is standard output, as an input standard input. Only
// regular files count: a terminal or /dev/null may be both. An empty name is no file.
void refuse_if_same(const std::string& output, std::span<const std::string> inputs);

// Throws Error, Exit::usage, if both outputs of a command are one regular file, or will be one.
void refuse_same_outputs(const std::string& one, const std::string& other);

}  // namespace nopscope::host
