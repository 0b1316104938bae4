// SPDX-License-Identifier: Apache-2.0
// Finds what was taken out of an image into a file of its own: its debug file (objcopy
// --only-keep-debug), and the debug information that several images share (dwz -m). They are where
// gdb looks for them, and in .build-id/ beside the image.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host-tools/image/elf_file.hpp"

namespace nopscope::host {

// The regular files, other than `image`, where the file with this name or build-id may be. The
// caller checks the build-id of each.
std::vector<std::string> debug_file_places(const std::string& image, std::string_view name,
                                           std::span<const std::uint8_t> build_id);

// Returns the debug file of `elf`: it has the build-id, or if there is none, the checksum of
// .gnu_debuglink.
std::optional<ElfFile> find_debug_file(const ElfFile& elf);

}  // namespace nopscope::host
