// SPDX-License-Identifier: Apache-2.0
// The functions of an image that can have patch sites (image/arch/patch_site.hpp has these).
#pragma once

#include <cstdint>
#include <vector>

#include "host-tools/image/elf_file.hpp"

namespace nopscope::host {

// Symbols of functions, one for each address, ascending: the one with a size, then a global one.
std::vector<const ElfSymbol*> functions(const ElfFile& elf);

}  // namespace nopscope::host
