// SPDX-License-Identifier: Apache-2.0
#include "host-tools/elf/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "host-tools/elf/a64.hpp"
#include "host-tools/elf/names.hpp"
#include "host-tools/elf/sites.hpp"
#include "host-tools/elf/source_lines.hpp"
#include "host-tools/elf/symbols.hpp"

namespace nopscope {
namespace {

using Addresses = std::unordered_set<std::uint64_t>;

// Where the linker script or a data table puts a label, the value may be meant as a boundary, not
// as a function: __text_start is also the address of the first function.
Addresses boundaries(const ElfFile& elf) {
    constexpr std::uint8_t stt_notype = 0;
    Addresses result;
    for (const ElfSymbol& symbol : elf.symbols()) {
        if (symbol.type == stt_notype && !symbol.is_mapping() && symbol.section != 0) {
            result.insert(symbol.address);
        }
    }
    return result;
}

// The tracer's own entries (nopscope_graph_entry, ...): their address is taken to make a BL, and
// the return hook's to be returned to. Neither way of arriving needs a landing pad.
bool is_tracer_entry(std::string_view symbol) { return symbol.starts_with("nopscope_"); }

std::string name_at(const std::unordered_map<std::uint64_t, const ElfSymbol*>& by_address,
                    std::uint64_t address) {
    const auto found = by_address.find(address);
    return found == by_address.end() ? "(no symbol)" : demangled(found->second->name);
}

bool belongs_to_nopscope(const std::string& name, const std::string& file) {
    for (const std::string_view part : {"/hal/", "/tracer/"}) {
        if (("/" + file).find(part) != std::string::npos) return true;
    }
    return name.starts_with("nopscope::");
}

}  // namespace

CheckResult check_image(const ElfFile& elf, const std::vector<std::string>& allowed_without_pad) {
    CheckResult result;
    const auto sites = site_addresses(elf);
    const Addresses site_set(sites.begin(), sites.end());
    const auto all = functions(elf);
    std::unordered_map<std::uint64_t, const ElfSymbol*> by_address;
    for (const ElfSymbol* function : all) by_address.emplace(function->address, function);
    result.sites = sites.size();
    result.functions = all.size();

    const auto problem = [&](std::uint64_t address, std::string what) {
        result.problems.push_back({address, name_at(by_address, address), std::move(what)});
    };
    for (const std::uint64_t site : sites) {
        if (site % 8 != 0) problem(site, "has a site but is not aligned to 8 bytes");
        if (!site_words(elf, site)) problem(site, "is in the site table but is no patch site");
        if (!by_address.contains(site)) problem(site, "is a site without a function symbol");
    }
    const ElfSection* names = elf.section(".nopscope.names");
    if (names != nullptr && !names->bytes.empty() &&
        !std::ranges::equal(names->bytes, name_table(elf))) {
        problem(names->address, "is a name table made for another image");
    }
    const SourceLines lines(elf.path());
    for (const ElfSymbol* function : all) {
        if (site_set.contains(function->address)) continue;
        if (site_words(elf, function->address)) {
            problem(function->address, "is instrumented but has no site");
            continue;
        }
        const std::string name = demangled(function->name);
        if (!belongs_to_nopscope(name, lines.at(function->address).file)) {
            result.uninstrumented.push_back(name);
        }
    }
    const Addresses labels = boundaries(elf);
    Addresses seen;
    for (const TakenAddress& taken : taken_addresses(elf)) {
        const auto function = by_address.find(taken.target);
        if (function == by_address.end() || !seen.insert(taken.target).second) continue;
        ++result.address_taken;
        if (a64::is_landing_pad(elf.word_at(taken.target).value_or(0))) continue;
        if (labels.contains(taken.target) || is_tracer_entry(function->second->name)) continue;
        const std::string name = demangled(function->second->name);
        const auto& allowed = allowed_without_pad;
        if (std::find(allowed.begin(), allowed.end(), name) != allowed.end()) continue;
        problem(taken.target,
                fmt::format("has its address taken at 0x{:x} but begins with no landing pad",
                            taken.where));
    }
    std::stable_sort(result.problems.begin(), result.problems.end(),
                     [](const Problem& a, const Problem& b) { return a.address < b.address; });
    return result;
}

}  // namespace nopscope
