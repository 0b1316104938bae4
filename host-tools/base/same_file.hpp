// SPDX-License-Identifier: Apache-2.0
// No output may replace an input of its own command. Files are compared by device and inode, so
// links do not hide one.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <optional>
#include <span>
#include <string>

namespace nopscope::host {

// True if both describe one file.
bool is_same(const struct stat& one, const struct stat& other);

// "/dev/fd/3" -> 3, "/proc/self/fd/1" -> 1. Nothing: another name.
std::optional<int> open_descriptor(const std::filesystem::path& path);

// Resolves symbolic links, also a last link to a file that does not exist yet. A relative `path`
// stays relative to the working directory. The name of an open descriptor ends the search
// (/dev/stdout -> /proc/self/fd/1), and so does an unreadable link. Never throws.
std::filesystem::path follow_links(const std::filesystem::path& path);

// Throws Error (Exit::usage) if `output` is a file of `inputs`, or a directory that contains one.
// "-" is standard output; as an input it is standard input. Only regular files count: a terminal or
// /dev/null may be both. An empty name means no file.
void refuse_if_same(const std::string& output, std::span<const std::string> inputs);

// Throws Error (Exit::usage) if both outputs of a command are, or will be, one regular file.
void refuse_same_outputs(const std::string& one, const std::string& other);

}  // namespace nopscope::host
