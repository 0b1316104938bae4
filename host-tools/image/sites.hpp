// SPDX-License-Identifier: Apache-2.0
// What the words at a function's entry say about its patch site.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "host-tools/image/elf_file.hpp"

namespace nopscope::host {

struct SiteWords {
    bool has_bti = false;            // bti c at the entry, before the two words
    std::uint64_t mov_address = 0;   // becomes mov x9, x30 at boot
    std::uint64_t word_address = 0;  // the one that toggles: nop | bl
};

// The patch site of the function at `address`, as -fpatchable-function-entry=4,2 makes it: two NOPs
// (or, after boot, the ops slot) before it, two at its entry, after bti c where there is one. The
// form that boot initialisation leaves is recognised too, for images dumped from memory.
std::optional<SiteWords> site_words(const ElfFile& elf, std::uint64_t address);

// Symbols of functions, one for each address, ascending: the one with a size, then a global one.
std::vector<const ElfSymbol*> functions(const ElfFile& elf);

}  // namespace nopscope::host
