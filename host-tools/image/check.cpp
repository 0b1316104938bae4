// SPDX-License-Identifier: Apache-2.0
#include "host-tools/image/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "host-tools/base/error.hpp"
#include "host-tools/image/arch/elf.hpp"
#include "host-tools/image/arch/instructions.hpp"
#include "host-tools/image/arch/patch_site.hpp"
#include "host-tools/image/conventions.hpp"
#include "host-tools/image/function_names.hpp"
#include "host-tools/image/names.hpp"
#include "host-tools/image/source_lines.hpp"
#include "host-tools/image/symbols.hpp"
#include "tracer/protocol/bytes.hpp"

namespace nopscope::host {
namespace {

using Addresses = std::unordered_set<std::uint64_t>;

// One function symbol for each address, ascending.
std::vector<const ElfSymbol*> functions(const ElfFile& elf) {
    std::vector<const ElfSymbol*> result;
    for (const ElfSymbol& symbol : elf.symbols()) {
        if (!symbol.is_function() || symbol.name.empty() || symbol.is_mapping()) continue;
        if (result.empty() || result.back()->address != symbol.address)
            result.push_back(symbol_at(elf, symbol.address));
    }
    return result;
}

// Returns the addresses of labels from the linker script or from assembly. Such an address may mean
// a boundary and not a function: __text_start is also the address of the first function.
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

// True for the tracer's entries (nopscope_graph_entry, ...). The tracer takes their addresses to
// patch calls to them, and the return hook's as a return address. Neither needs a landing pad.
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

// Returns the architecture's feature property in .note.gnu.property; nothing if there is none.
std::optional<std::uint32_t> features_of(const ElfFile& elf) {
    const ElfSection* const section = elf.section(".note.gnu.property");
    if (section == nullptr) return std::nullopt;
    protocol::Reader in(section->bytes.data(), section->bytes.size());
    in.bytes(16);  // sizes, type, "GNU"
    while (in.left() >= 12) {
        const auto type = in.fixed<std::uint32_t>(), bytes = in.fixed<std::uint32_t>();
        if (type == arch::feature_property().type) return in.fixed<std::uint32_t>();
        in.bytes((std::size_t{bytes} + 7) / 8 * 8);
    }
    return std::nullopt;
}

// True if the linker's property note says that all code has landing pads. Without such a note, true
// if any patch site has one.
bool has_landing_pads(const ElfFile& elf) {
    if (const auto features = features_of(elf)) {
        return (*features & arch::feature_property().landing_pads) != 0;
    }
    const auto sites = site_addresses(elf);
    return std::any_of(sites.begin(), sites.end(), [&](std::uint64_t site) {
        const auto words = site_words(elf, site);
        return words && words->has_landing_pad;
    });
}

}  // namespace

CheckResult check_image(const ElfFile& elf, const std::vector<std::string>& allowed_without_pad,
                        std::optional<bool> pads_are_enforced) {
    if (std::ranges::none_of(elf.sections(),
                             [](const ElfSection& s) { return s.is_code() && !s.bytes.empty(); })) {
        throw Error(elf.path() +
                    " has no section with code: is it the linked image, with its section headers?");
    }
    CheckResult result;
    result.pads_are_enforced = pads_are_enforced.value_or(has_landing_pads(elf));
    result.has_build_id = !elf.build_id().empty();
    // This label is assembly, so no compiler renames or inlines it, and init() refers to it.
    result.has_tracer = std::ranges::any_of(elf.symbols(), [](const ElfSymbol& symbol) {
        return symbol.name == "nopscope_graph_entry" && symbol.section != 0;
    });
    const auto sites = site_addresses(elf);
    const Addresses site_set(sites.begin(), sites.end());
    const auto all = functions(elf);
    std::unordered_map<std::uint64_t, const ElfSymbol*> by_address;
    for (const ElfSymbol* function : all) by_address.emplace(function->address, function);
    result.sites = sites.size();
    result.functions = all.size();

    NameBudget budget(elf);
    const auto add = [&](std::vector<Problem>& to, std::uint64_t address, std::string what) {
        const Problem& one =
            to.emplace_back(address, name_at(by_address, address), std::move(what));
        budget.take(sizeof one + one.function.size() + one.what.size());
    };
    const auto problem = [&](std::uint64_t address, std::string what) {
        add(result.problems, address, std::move(what));
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
    const SourceLines lines(elf);
    std::unordered_set<std::string> files_with_sites, files_with_pads;
    for (const std::uint64_t site : sites) {
        const std::string& file = *files_with_sites.insert(lines.at(site).file).first;
        const auto words = site_words(elf, site);
        if (words && words->has_landing_pad && !file.empty()) files_with_pads.insert(file);
        if (std::string why = broken_by_tracing(elf, lines, site); !why.empty())
            add(result.broken_by_tracing, site, std::move(why));
    }
    // A compiler leaves out the pad of a local function only if no pointer to it is made. Then a
    // number in the data equals its address by chance.
    const auto is_by_chance = [&](const TakenAddress& taken, const ElfSymbol& function) {
        return !taken.is_in_code && function.is_local && site_set.contains(function.address) &&
               files_with_pads.contains(lines.at(function.address).file);
    };
    for (const ElfSymbol* function : all) {
        if (site_set.contains(function->address)) continue;
        if (site_words(elf, function->address)) {
            problem(function->address, "is instrumented but has no site");
            continue;
        }
        const std::string name = demangled(function->name);
        const std::string file = lines.at(function->address).file;
        if (belongs_to_nopscope(name, file)) continue;
        result.uninstrumented.push_back(name);
        budget.take(2 * (sizeof name + name.size()));
        if (file.empty() || !files_with_sites.contains(file)) result.prebuilt.push_back(name);
    }
    const Addresses labels = boundaries(elf);
    for (const TakenAddress& taken : taken_addresses(elf)) {
        const auto function = by_address.find(taken.target);
        if (function == by_address.end()) continue;
        const bool has_pad = arch::is_landing_pad(elf.word_at(taken.target).value_or(0));
        if (!has_pad && is_by_chance(taken, *function->second)) continue;
        ++result.address_taken;
        if (has_pad) continue;
        if (labels.contains(taken.target) || is_tracer_entry(function->second->name)) continue;
        const std::string name = demangled(function->second->name);
        if (std::ranges::any_of(allowed_without_pad, [&](const std::string& glob) {
                return names_function(glob, name, names_at(elf, taken.target, budget));
            }))
            continue;
        std::string what = fmt::format(
            "has its address taken at 0x{:x} but begins with no landing pad", taken.where);
        if (result.pads_are_enforced) {
            problem(taken.target, std::move(what));
        } else {
            result.without_pad.push_back({taken.target, name, std::move(what)});
        }
    }
    std::stable_sort(result.problems.begin(), result.problems.end(),
                     [](const Problem& a, const Problem& b) { return a.address < b.address; });
    return result;
}

}  // namespace nopscope::host
