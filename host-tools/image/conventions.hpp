// SPDX-License-Identifier: Apache-2.0
// Finds the functions that a traced call would make compute wrong.
#pragma once

#include <cstdint>
#include <string>

#include "host-tools/image/elf_file.hpp"
#include "host-tools/image/source_lines.hpp"

namespace nopscope::host {

// Why tracing breaks the function at this patch site, and the remedy: a phrase behind its name.
// Empty: neither DWARF nor the function's first instructions say that it does.
std::string broken_by_tracing(const ElfFile& elf, const SourceLines& lines, std::uint64_t site);

}  // namespace nopscope::host
