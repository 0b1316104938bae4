// SPDX-License-Identifier: Apache-2.0
#include "host-tools/image/check.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "host-tools/base/error.hpp"
#include "host-tools/image/function_names.hpp"
#include "host-tools/image/names.hpp"
#include "host-tools/image/read_symbols.hpp"
#include "host-tools/image/source_lines.hpp"
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
        if (type == elf.arch().feature_property) return in.fixed<std::uint32_t>();
        in.bytes((std::size_t{bytes} + 7) / 8 * 8);
    }
    return std::nullopt;
}

// True if the linker's property note says that all code has landing pads. Without such a note, true
// if any patch site has one.
bool has_landing_pads(const ElfFile& elf) {
    if (const auto features = features_of(elf)) {
        return (*features & elf.arch().landing_pads_feature) != 0;
    }
    const auto sites = site_addresses(elf);
    return std::any_of(sites.begin(), sites.end(), [&](std::uint64_t site) {
        const auto words = elf.arch().site_words(elf, site);
        return words && words->has_landing_pad;
    });
}

// The functions that data refers to, or code of used functions. A function without a site to which
// nothing refers is used, too: the linker kept it for another reason than the site table.
Addresses used_functions(const ElfFile& elf, const std::vector<const ElfSymbol*>& all,
                         const Addresses& sites) {
    std::vector<std::pair<std::size_t, std::size_t>> references;  // from, to: indices in `all`
    std::vector<bool> is_used(all.size()), is_referred(all.size());
    std::vector<std::size_t> work;
    const auto use = [&](std::size_t function) {
        if (is_used[function]) return;
        is_used[function] = true;
        work.push_back(function);
    };
    const auto around = [&](std::uint64_t address) -> std::optional<std::size_t> {
        const auto after = std::ranges::upper_bound(all, address, {},
                                                    [](const ElfSymbol* s) { return s->address; });
        if (after == all.begin()) return std::nullopt;
        const ElfSymbol& one = *after[-1];
        if (address - one.address >= std::max(one.size, std::uint64_t{1})) return std::nullopt;
        return after - all.begin() - 1;
    };
    const auto refer = [&](std::uint64_t target, std::uint64_t where, bool is_in_code) {
        const auto to = around(target);
        const auto from = is_in_code ? around(where) : std::nullopt;
        if (!to || from == to) return;
        is_referred[*to] = true;
        if (from) {
            references.emplace_back(*from, *to);
        } else {
            use(*to);
        }
    };
    scan_references(
        elf,
        {.made = [&](const TakenAddress& one) { refer(one.target, one.where, one.is_in_code); },
         .branches = [&](auto target, auto where) { refer(target, where, true); }});
    for (std::size_t i = 0; i < all.size(); ++i) {
        const bool is_kept = !is_referred[i] && !sites.contains(all[i]->address);
        if (is_kept || all[i]->address == elf.entry()) use(i);
    }
    std::ranges::sort(references);
    while (!work.empty()) {
        const std::size_t from = work.back();
        work.pop_back();
        auto at = std::ranges::lower_bound(references, std::pair(from, std::size_t{0}));
        for (; at != references.end() && at->first == from; ++at) use(at->second);
    }
    Addresses used;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (is_used[i]) used.insert(all[i]->address);
    }
    return used;
}

// Whether code has the address of relocations, of their end, or of what leads to them, so that it
// may apply them. They may begin at __text_end, whose address the tracer has for another reason.
bool applies_relocations(const ElfFile& elf) {
    const auto text_end = elf.symbol_address("__text_end");
    bool found = false;
    scan_references(elf, {.made = [&](const TakenAddress& one) {
                        if (!one.is_in_code || one.target == text_end) return;
                        for (const std::uint64_t address : {one.target, one.target - 1}) {
                            const ElfSection* const section = elf.section_at(address);
                            found |= section != nullptr &&
                                     (section->type == SHT_RELA || section->name == ".dynamic");
                        }
                    }});
    return found;
}

// Clang puts a type's hash before the first of a function's NOPs (-fsanitize=kcfi).
bool has_type_hash(const ElfFile& elf, std::uint64_t function) {
    constexpr std::uint64_t before = 12;
    const auto& symbols = elf.symbols();
    auto at = std::ranges::lower_bound(symbols, function - before, {}, &ElfSymbol::address);
    for (; at != symbols.end() && at->address == function - before; ++at) {
        if (at->is_mapping() && at->name[1] == 'd') return true;
    }
    return false;
}

}  // namespace

CheckResult check_image(const ElfFile& elf, const std::vector<std::string>& allowed_without_pad,
                        std::optional<bool> pads_are_enforced) {
    if (elf.is_debug_file()) throw Error(no_code_sentence(elf));
    if (std::ranges::none_of(elf.sections(),
                             [](const ElfSection& s) { return s.is_code() && !s.bytes.empty(); })) {
        throw Error(elf.path() +
                    " has no section with code: is it the linked image, with its section headers?");
    }
    if (elf.symbols().empty()) {
        throw Error(elf.path() +
                    " is stripped, so its functions cannot be checked: give the ELF file before "
                    "strip, or put its debug file where .gnu_debuglink or .build-id/ finds it");
    }
    if (pads_are_enforced == true && elf.arch().landing_pad_text == nullptr) {
        throw Error(fmt::format("{} is for {}, whose landing pads nopscope does not know: leave "
                                "the option out that says that the CPU enforces them",
                                elf.path(), elf.arch().name),
                    Exit::usage);
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
    const auto text_begin = elf.symbol_address("__text_start"),
               text_end = elf.symbol_address("__text_end");
    const Arch& arch = elf.arch();
    for (const std::uint64_t site : sites) {
        const bool is_function = by_address.contains(site);
        if (const char* const remedy = is_function ? nullptr : arch.site_remedy(elf, site)) {
            problem(site, fmt::format("is in the site table but is no patch site: {}", remedy));
            continue;
        }
        if (site % 8 != 0 && has_type_hash(elf, site)) {
            problem(site,
                    "has a site that a type hash before it misaligns, so the target refuses it: "
                    "compile without -fsanitize=kcfi");
        } else if (site % 8 != 0) {
            problem(site, "has a site but is not aligned to 8 bytes");
        }
        if (text_begin && text_end && (site < *text_begin || site >= *text_end)) {
            const ElfSection* const section = elf.section_at(site);
            problem(site,
                    fmt::format("lies in {}, outside of __text_start to __text_end, so the target "
                                "refuses its site: put it into .text, or mark it NOPSCOPE_NOTRACE",
                                section == nullptr ? "no section" : section->name));
        }
        if (!arch.site_words(elf, site)) problem(site, "is in the site table but is no patch site");
        if (!is_function) problem(site, "is a site without a function symbol");
    }
    const ElfSection* names = elf.section(".nopscope.names");
    if (names != nullptr && !names->bytes.empty() &&
        !std::ranges::equal(names->bytes, name_table(elf))) {
        problem(names->address, "is a name table made for another image");
    }
    const std::uint64_t table_begin = elf.symbol_address("__nopscope_sites_start").value_or(0);
    const std::uint64_t table_end = elf.symbol_address("__nopscope_sites_end").value_or(0);
    for (const std::uint64_t word : elf.relocated()) {
        if (word >= table_begin && word < table_end) ++result.relocated_sites;
    }
    if (result.relocated_sites != 0 && !applies_relocations(elf)) {
        problem(
            elf.relocated().front(),
            fmt::format("is the first of {} words that dynamic relocations fill at start-up, {} "
                        "of them in the site table, and no code refers to these relocations: "
                        "apply them before nopscope's init(), or link without -pie, or so that "
                        "the file has the values (without --no-apply-dynamic-relocs in GNU ld, "
                        "with --apply-dynamic-relocs in lld)",
                        elf.relocated().size(), result.relocated_sites));
    }
    const Addresses used = used_functions(elf, all, site_set);
    for (const ElfSymbol* function : all) {
        if (!site_set.contains(function->address) || used.contains(function->address)) continue;
        result.unused.push_back(demangled(function->name));
        budget.take(sizeof(std::string) + result.unused.back().size());
    }
    const SourceLines lines(elf);
    std::unordered_set<std::string> files_with_sites, files_with_pads;
    for (const std::uint64_t site : sites) {
        const std::string& file = *files_with_sites.insert(lines.at(site).file).first;
        const auto words = arch.site_words(elf, site);
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
        if (arch.site_words(elf, function->address)) {
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
        const bool has_pad = arch.landing_pad_text == nullptr ||
                             arch.is_landing_pad(elf.word_at(taken.target).value_or(0));
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
