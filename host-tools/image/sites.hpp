// SPDX-License-Identifier: Apache-2.0
// Lists the functions of an image, which may have patch sites (image/arch/patch_site.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "host-tools/image/elf_file.hpp"

namespace nopscope::host {

// One function symbol for each address, ascending: preferably with a size, then a global one.
std::vector<const ElfSymbol*> functions(const ElfFile& elf);

}  // namespace nopscope::host
