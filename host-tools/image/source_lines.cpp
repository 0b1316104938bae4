// SPDX-License-Identifier: Apache-2.0
#include "host-tools/image/source_lines.hpp"

#include <dwarf.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>

#include "host-tools/base/output.hpp"
#include "host-tools/image/arch/arch.hpp"
#include "host-tools/image/dwarf_file.hpp"

namespace nopscope::host {
namespace {

// Namespaces, classes and functions nest, but no real program nests deeper.
constexpr int deepest = 64;
// A hostile sibling attribute may lead to an earlier entry.
constexpr std::size_t most_entries = std::size_t{1} << 24;

constexpr Dwarf_Word most_bytes_of_argument = 16;  // a larger one is passed by its address

// GCC turns -fipa-ra off for -fpatchable-function-entry, but not for the attribute of this name.
// Its DW_AT_producer has the options of the unit.
bool fits_callers(Dwarf_Die* unit) {
    Dwarf_Attribute attribute;
    const char* const text = dwarf_formstring(dwarf_attr(unit, DW_AT_producer, &attribute));
    const std::string_view producer = text == nullptr ? "" : text;
    const auto has = [&](const char* option) { return producer.find(option) != producer.npos; };
    return producer.starts_with("GNU C") && has(" -O") && !has(" -O0") && !has(" -fno-ipa-ra") &&
           !has(" -fpatchable-function-entry");
}

// How many 8-byte words the function's arguments take at most.
Dwarf_Word words_of_arguments(Dwarf_Die* function) {
    Dwarf_Word words = 0;
    Dwarf_Die one, type;
    if (dwarf_child(function, &one) != 0) return 0;
    do {
        if (dwarf_tag(&one) != DW_TAG_formal_parameter) continue;
        Dwarf_Attribute attribute;
        Dwarf_Word bytes = 0;
        if (dwarf_formref_die(dwarf_attr_integrate(&one, DW_AT_type, &attribute), &type) ==
                nullptr ||
            dwarf_aggregate_size(&type, &bytes) != 0 || bytes == 0)
            bytes = 8;
        words += (std::min(bytes, most_bytes_of_argument) + 7) / 8;
    } while (dwarf_siblingof(&one, &one) == 0);
    return words;
}

// Of a compiler's extensions; else `usual`. It is at the declaration or the abstract origin, too.
unsigned convention_of(const Arch& arch, Dwarf_Die* function, unsigned usual) {
    Dwarf_Attribute attribute;
    Dwarf_Word value = 0;
    if (dwarf_formudata(dwarf_attr_integrate(function, DW_AT_calling_convention, &attribute),
                        &value) != 0 ||
        value < DW_CC_lo_user || value > DW_CC_hi_user)
        return usual;
    const auto convention = static_cast<unsigned>(value);
    const unsigned harmless = arch.harmless_words(convention);
    return harmless != 0 && words_of_arguments(function) <= harmless ? usual : convention;
}

}  // namespace

void SourceLines::add(std::uint64_t address, const char* file, std::uint32_t line) {
    if (places_.size() == most_places || places_.contains(address)) return;
    if (const auto number = files_.number_of(file)) places_.emplace(address, Place{*number, line});
}

// The declaration is in the definition, in the in-class declaration, or (for a compiler's clones)
// in the abstract origin; dwarf_decl_* follow both references.
void SourceLines::add_function(Dwarf_Die* function) {
    Dwarf_Addr low = 0;
    if (dwarf_lowpc(function, &low) != 0) return;
    int line = 0;
    if (dwarf_decl_line(function, &line) != 0 || line < 0) line = 0;
    if (const char* file = dwarf_decl_file(function))
        add(low, file, static_cast<std::uint32_t>(line));
    const unsigned convention = convention_of(arch_, function, convention_of_unit_);
    if (convention != 0 && conventions_.size() != most_places)
        conventions_.emplace(low, static_cast<std::uint8_t>(convention));
}

void SourceLines::walk(Dwarf_Die* parent, int depth) {
    Dwarf_Die child;
    if (depth == deepest || dwarf_child(parent, &child) != 0) return;
    do {
        if (++entries_ > most_entries) return;
        switch (dwarf_tag(&child)) {
        case DW_TAG_subprogram: add_function(&child); [[fallthrough]];
        case DW_TAG_namespace:
        case DW_TAG_class_type:
        case DW_TAG_structure_type:
        case DW_TAG_union_type:
        case DW_TAG_lexical_block: walk(&child, depth + 1); break;
        default: break;
        }
    } while (dwarf_siblingof(&child, &child) == 0);
}

SourceLines::SourceLines(const ElfFile& elf) : arch_(elf.arch()) {
    DwarfFile dwarf(elf);
    dwarf.each_unit([&](Dwarf_Die* unit) {
        convention_of_unit_ = fits_callers(unit) ? convention_by_callers : 0;
        walk(unit, 0);
    });
    // An assembly function has no DIE, but it has lines.
    dwarf.each_unit([&](Dwarf_Die* unit) {
        DwarfFile::each_line(unit,
                             [&](std::uint64_t address, const char* name, std::uint32_t line) {
                                 if (name != nullptr) add(address, name, line);
                             });
    });
    if (dwarf.has_line_programs() && places_.empty())
        say("no source lines were found in the debug information of " + elf.debug_path());
}

// Where a function may begin in DWARF. GCC's begins after its patch site.
std::array<std::uint64_t, 3> SourceLines::begins(std::uint64_t address) const {
    const auto& behind_site = arch_.body_distances;
    return {address, address + behind_site[0], address + behind_site[1]};
}

SourcePlace SourceLines::at(std::uint64_t address) const {
    for (const std::uint64_t begin : begins(address)) {
        const auto found = places_.find(begin);
        if (found != places_.end()) return {files_.names()[found->second.file], found->second.line};
    }
    return {};
}

unsigned SourceLines::convention(std::uint64_t address) const {
    for (const std::uint64_t begin : begins(address)) {
        const auto found = conventions_.find(begin);
        if (found != conventions_.end()) return found->second;
    }
    return 0;
}

std::string broken_by_tracing(const ElfFile& elf, const SourceLines& lines, std::uint64_t site) {
    constexpr char attribute[] =
        "give it NOPSCOPE_NOTRACE, which is __attribute__((patchable_function_entry(0)))";
    const auto sentence = [](const char* why, const char* remedy) {
        return std::string(why) + ", so a traced call breaks the program: " + remedy;
    };
    const Arch& arch = elf.arch();
    const unsigned convention = lines.convention(site);
    if (const char* const why = arch.broken_convention(convention)) return sentence(why, attribute);
    if (const auto words = arch.site_words(elf, site);
        words && arch.takes_register_of_caller(elf, words->word_address + 4))
        return sentence(arch.broken_by_its_code, attribute);
    if (convention == SourceLines::convention_by_callers)
        return sentence(arch.broken_by_its_callers, "compile its file with -fno-ipa-ra");
    return {};
}

LineTable::LineTable(const ElfFile& elf) {
    DwarfFile dwarf(elf);
    dwarf.each_unit([&](Dwarf_Die* unit) {
        DwarfFile::each_line(
            unit, [&](std::uint64_t address, const char* file, std::uint32_t line) {
                if (rows_.size() == max_rows) return;
                const auto number = file == nullptr ? std::nullopt : files_.number_of(file);
                rows_.push_back({address, number ? LinePlace{*number, line} : LinePlace{}});
            });
    });
    // At an address where a sequence ends and another begins, the latter counts; else the last row.
    std::stable_sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) {
        return std::tuple(a.address, a.place.line != 0) < std::tuple(b.address, b.place.line != 0);
    });
}

std::optional<LinePlace> LineTable::at(std::uint64_t address) const {
    const auto after =
        std::upper_bound(rows_.begin(), rows_.end(), address,
                         [](std::uint64_t wanted, const Row& row) { return wanted < row.address; });
    if (after == rows_.begin() || after[-1].place.line == 0) return std::nullopt;
    return after[-1].place;
}

}  // namespace nopscope::host
