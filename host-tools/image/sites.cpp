// SPDX-License-Identifier: Apache-2.0
#include "host-tools/image/sites.hpp"

#include "host-tools/image/arch/arm64/a64.hpp"

namespace nopscope::host {

std::optional<SiteWords> site_words(const ElfFile& elf, std::uint64_t address) {
    const auto word = [&](std::uint64_t at) { return elf.word_at(at).value_or(0); };
    if (address < 8) return std::nullopt;
    SiteWords site;
    site.has_bti = word(address) == a64::bti_c;
    site.mov_address = address + (site.has_bti ? 4 : 0);
    site.word_address = site.mov_address + 4;
    const std::uint32_t first = word(site.mov_address);
    const std::uint32_t second = word(site.word_address);
    const bool untouched = first == a64::nop && second == a64::nop &&
                           word(address - 8) == a64::nop && word(address - 4) == a64::nop;
    const bool initialised = first == a64::mov_x9_x30 && (second == a64::nop || a64::is_bl(second));
    if (!untouched && !initialised) return std::nullopt;
    return site;
}

std::vector<const ElfSymbol*> functions(const ElfFile& elf) {
    std::vector<const ElfSymbol*> result;
    const auto rank = [](const ElfSymbol& s) {
        return (s.size != 0 ? 2 : 0) + (s.is_local ? 0 : 1);
    };
    for (const ElfSymbol& symbol : elf.symbols()) {
        if (!symbol.is_function() || symbol.name.empty()) continue;
        if (!result.empty() && result.back()->address == symbol.address) {
            if (rank(symbol) > rank(*result.back())) result.back() = &symbol;
        } else {
            result.push_back(&symbol);
        }
    }
    return result;
}

}  // namespace nopscope::host
