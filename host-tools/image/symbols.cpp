// SPDX-License-Identifier: Apache-2.0
#include "host-tools/image/symbols.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host-tools/base/text.hpp"
#include "host-tools/image/function_names.hpp"

namespace nopscope::host {
namespace {

// Higher counts more. The suffixes of .localalias and others make another name of what has one.
unsigned rank(const ElfSymbol& symbol) {
    return (symbol.is_function() ? 16u : 0u) +
           (clone_name(symbol.name).origin == symbol.name ? 8u : 0u) +
           (symbol.size != 0 ? 4u : 0u) +
           (symbol.is_weak    ? 0u
            : symbol.is_local ? 1u
                              : 2u);
}

bool is_name(const ElfSymbol& symbol) {
    return symbol.section != 0 && !symbol.name.empty() && !symbol.is_mapping();
}

std::span<const ElfSymbol> range_at(const ElfFile& elf, std::uint64_t address) {
    const auto [first, last] =
        std::ranges::equal_range(elf.symbols(), address, {}, &ElfSymbol::address);
    return {first, last};
}

}  // namespace

std::string problem_text(const std::string& image, const Problem& problem) {
    return fmt::format("{}: {} at {} {}", for_terminal(image), for_cell(problem.function),
                       hex_address(problem.address), problem.what);
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

const ElfSymbol* symbol_at(const ElfFile& elf, std::uint64_t address) {
    const ElfSymbol* best = nullptr;
    for (const ElfSymbol& one : range_at(elf, address)) {
        if (is_name(one) && (best == nullptr || rank(one) > rank(*best))) best = &one;
    }
    return best;
}

std::vector<const ElfSymbol*> symbols_at(const ElfFile& elf, std::uint64_t address) {
    std::vector<const ElfSymbol*> all;
    const ElfSymbol* const best = symbol_at(elf, address);
    for (const ElfSymbol& one : range_at(elf, address)) {
        if (is_name(one) && one.is_function() == best->is_function()) all.push_back(&one);
    }
    return all;
}

}  // namespace nopscope::host
