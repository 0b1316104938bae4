// SPDX-License-Identifier: Apache-2.0
// -fpatchable-function-entry=4,2 puts two NOPs before the function and two at its entry, after BTI
// C if there is one (tracer/arch/arm64/patch_site.hpp).
#include "host-tools/image/arch/arm64/a64.hpp"
#include "host-tools/image/arch/arm64/arm64.hpp"
#include "host-tools/image/elf_file.hpp"

namespace nopscope::host::arm64 {

std::optional<SiteWords> site_words(const ElfFile& elf, std::uint64_t address) {
    const auto word = [&](std::uint64_t at) { return elf.word_at(at).value_or(0); };
    if (address < 8) return std::nullopt;
    SiteWords site;
    site.has_landing_pad = word(address) == a64::bti_c;
    site.setup_address = address + (site.has_landing_pad ? 4 : 0);
    site.word_address = site.setup_address + 4;
    const std::uint32_t first = word(site.setup_address);
    const std::uint32_t second = word(site.word_address);
    const bool untouched = first == a64::nop && second == a64::nop &&
                           word(address - 8) == a64::nop && word(address - 4) == a64::nop;
    const bool initialised = first == a64::mov_x9_x30 && (second == a64::nop || a64::is_bl(second));
    if (!untouched && !initialised) return std::nullopt;
    return site;
}

}  // namespace nopscope::host::arm64
