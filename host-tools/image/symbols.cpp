// SPDX-License-Identifier: Apache-2.0
#include "host-tools/image/symbols.hpp"

#include <algorithm>

namespace nopscope::host {

Tail TailCalls::of(std::uint32_t site) const {
    const auto at =
        std::lower_bound(direct.begin(), direct.end(), site,
                         [](const Target& target, std::uint32_t s) { return target.site < s; });
    return at != direct.end() && at->site == site ? at->tail : others;
}

const Function* Symbols::find(std::uint64_t address) const {
    const auto at =
        std::lower_bound(sites.begin(), sites.end(), address,
                         [](const Function& f, std::uint64_t a) { return f.address < a; });
    return at != sites.end() && at->address == address ? &*at : nullptr;
}

Tail Symbols::tail(std::uint64_t caller, std::uint64_t callee) const {
    const Function* const from = find(caller);
    const Function* const to = find(callee);
    if (from == nullptr || to == nullptr || tails.size() != sites.size()) return Tail::never;
    return tails[static_cast<std::size_t>(from - sites.data())].of(
        static_cast<std::uint32_t>(to - sites.data()));
}

const Function* Symbols::around(std::uint64_t address) const {
    for (const std::vector<Function>* list : {&sites, &code}) {
        auto after =
            std::upper_bound(list->begin(), list->end(), address,
                             [](std::uint64_t a, const Function& f) { return a < f.address; });
        if (after != list->begin() && address - (--after)->address < after->size) return &*after;
    }
    return nullptr;
}

}  // namespace nopscope::host
