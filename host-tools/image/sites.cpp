// SPDX-License-Identifier: Apache-2.0
#include "host-tools/image/sites.hpp"

namespace nopscope::host {

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
