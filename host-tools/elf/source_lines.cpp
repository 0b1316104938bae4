// SPDX-License-Identifier: Apache-2.0
#include "host-tools/elf/source_lines.hpp"

#include <dwarf.h>

#include "host-tools/elf/dwarf_file.hpp"

namespace nopscope {
namespace {

// Namespaces, classes and functions nest; nothing real nests deeper.
constexpr int deepest = 64;

using Places = std::unordered_map<std::uint64_t, SourcePlace>;

// The declaration is kept with the definition, with the in-class declaration, or (for clones made
// by the compiler) with the abstract origin; dwarf_decl_* follow both.
void add_function(Dwarf_Die* function, Places& places) {
    Dwarf_Addr low = 0;
    if (dwarf_lowpc(function, &low) != 0) return;
    SourcePlace place;
    if (const char* file = dwarf_decl_file(function)) place.file = file;
    int line = 0;
    if (dwarf_decl_line(function, &line) == 0 && line > 0) {
        place.line = static_cast<std::uint32_t>(line);
    }
    if (!place.file.empty()) places.try_emplace(low, std::move(place));
}

void walk(Dwarf_Die* parent, Places& places, int depth) {
    Dwarf_Die child;
    if (depth == deepest || dwarf_child(parent, &child) != 0) return;
    do {
        switch (dwarf_tag(&child)) {
        case DW_TAG_subprogram:
            add_function(&child, places);
            [[fallthrough]];
        case DW_TAG_namespace:
        case DW_TAG_class_type:
        case DW_TAG_structure_type:
        case DW_TAG_union_type:
        case DW_TAG_lexical_block:
            walk(&child, places, depth + 1);
            break;
        default:
            break;
        }
    } while (dwarf_siblingof(&child, &child) == 0);
}

}  // namespace

SourceLines::SourceLines(const std::string& path) {
    const DwarfFile dwarf(path);
    dwarf.each_unit([&](Dwarf_Die* unit) { walk(unit, places_, 0); });
    // Functions in assembly have no DIE of their own, but lines.
    dwarf.each_unit([&](Dwarf_Die* unit) {
        DwarfFile::each_line(unit, [&](std::uint64_t address, const char* name, std::uint32_t line) {
            if (name != nullptr) places_.try_emplace(address, SourcePlace{name, line});
        });
    });
}

SourcePlace SourceLines::at(std::uint64_t address) const {
    // GCC's DWARF has a function begin behind its patch site: two words, or three with a BTI C.
    for (const std::uint64_t behind : {0, 8, 12}) {
        const auto found = places_.find(address + behind);
        if (found != places_.end()) return found->second;
    }
    return {};
}

}  // namespace nopscope
