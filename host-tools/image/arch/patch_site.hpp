// SPDX-License-Identifier: Apache-2.0
// Reads a patch site from the words at a function's entry.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "host-tools/image/elf_file.hpp"

namespace nopscope::host {

struct SiteWords {
    bool has_landing_pad = false;     // at the entry, before the two words
    std::uint64_t setup_address = 0;  // the word that init() writes at boot
    std::uint64_t word_address = 0;   // the word that toggles: idle, or a call
};

// Returns the patch site of the function at `address`. The compiler puts the slot's NOPs before the
// function and two words at its entry, after a landing pad if there is one. It also recognises the
// words that boot initialisation wrote, in images dumped from memory.
std::optional<SiteWords> site_words(const ElfFile& elf, std::uint64_t address);

namespace arch {

// GCC's DWARF says that a function begins after its patch site. Returns that distance from the
// entry in bytes, without a landing pad and with one.
std::array<std::uint64_t, 2> body_distances();
// The text of the two words as the target writes them: "mov x9, x30", "bl".
const char* setup_text();
const char* call_text();

}  // namespace arch
}  // namespace nopscope::host
