// SPDX-License-Identifier: Apache-2.0
#include "host-tools/image/source_lines.hpp"

#include <dwarf.h>

#include "host-tools/base/say.hpp"
#include "host-tools/image/arch/patch_site.hpp"
#include "host-tools/image/dwarf_file.hpp"

namespace nopscope::host {
namespace {

// Namespaces, classes and functions nest, but no real program nests deeper.
constexpr int deepest = 64;
// A hostile sibling attribute may lead to an earlier entry.
constexpr std::size_t most_entries = std::size_t{1} << 24;

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

SourceLines::SourceLines(const ElfFile& elf) {
    DwarfFile dwarf(elf);
    dwarf.each_unit([&](Dwarf_Die* unit) { walk(unit, 0); });
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

SourcePlace SourceLines::at(std::uint64_t address) const {
    // In GCC's DWARF, a function begins after its patch site.
    const auto behind_site = arch::body_distances();
    for (const std::uint64_t behind : {std::uint64_t{0}, behind_site[0], behind_site[1]}) {
        const auto found = places_.find(address + behind);
        if (found != places_.end()) return {files_.names()[found->second.file], found->second.line};
    }
    return {};
}

}  // namespace nopscope::host
