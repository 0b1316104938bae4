// SPDX-License-Identifier: Apache-2.0
#include "host-tools/elf/source_lines.hpp"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <unistd.h>

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

// Functions in assembly have no DIE of their own, but lines.
void add_lines(Dwarf_Die* unit, Places& places) {
    Dwarf_Lines* lines = nullptr;
    std::size_t count = 0;
    if (dwarf_getsrclines(unit, &lines, &count) != 0) return;
    for (std::size_t i = 0; i < count; ++i) {
        Dwarf_Line* line = dwarf_onesrcline(lines, i);
        Dwarf_Addr address = 0;
        int number = 0;
        const char* file = dwarf_linesrc(line, nullptr, nullptr);
        if (file == nullptr || dwarf_lineaddr(line, &address) != 0 ||
            dwarf_lineno(line, &number) != 0 || number <= 0) {
            continue;
        }
        places.try_emplace(address, SourcePlace{file, static_cast<std::uint32_t>(number)});
    }
}

}  // namespace

SourceLines::SourceLines(const std::string& path) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    if (Dwarf* dwarf = dwarf_begin(file, DWARF_C_READ)) {
        const auto each_unit = [&](auto&& visit) {
            Dwarf_CU* unit = nullptr;
            Dwarf_Half version = 0;
            std::uint8_t type = 0;
            Dwarf_Die die;
            Dwarf_Die sub;
            while (dwarf_get_units(dwarf, unit, &unit, &version, &type, &die, &sub) == 0) {
                visit(&die);
            }
        };
        each_unit([&](Dwarf_Die* unit) { walk(unit, places_, 0); });
        each_unit([&](Dwarf_Die* unit) { add_lines(unit, places_); });
        dwarf_end(dwarf);
    }
    close(file);
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
