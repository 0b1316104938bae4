// SPDX-License-Identifier: Apache-2.0
// What the words at a function's entry say about its patch site.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "host-tools/image/elf_file.hpp"

namespace nopscope::host {

struct SiteWords {
    bool has_landing_pad = false;     // at the entry, before the two words
    std::uint64_t setup_address = 0;  // the word that boot initialisation writes
    std::uint64_t word_address = 0;   // the one that toggles: idle, or a call
};

// The patch site of the function at `address`, as the compiler makes it: the slot's NOPs before it,
// two words at its entry, after a landing pad where there is one. The form that boot initialisation
// leaves is recognised too, for images dumped from memory.
std::optional<SiteWords> site_words(const ElfFile& elf, std::uint64_t address);

namespace arch {

// GCC's DWARF has a function begin behind its patch site: bytes from the entry, without a landing
// pad and with one.
std::array<std::uint64_t, 2> body_distances();
// What the target makes of the two words, for people: "mov x9, x30", "bl".
const char* setup_text();
const char* call_text();

}  // namespace arch
}  // namespace nopscope::host
