// SPDX-License-Identifier: Apache-2.0
// Finds in DWARF the definitions of functions, instructions' source lines, and the functions that
// a traced call would make compute wrong.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "host-tools/image/dwarf_file.hpp"
#include "host-tools/image/elf_file.hpp"

namespace nopscope::host {

struct SourcePlace {
    std::string file;  // empty: unknown
    std::uint32_t line = 0;
};

// Reads the file's whole DWARF once. A file may have none.
class SourceLines {
public:
    explicit SourceLines(const ElfFile& elf);

    // The place of the function that begins at this link-time address.
    SourcePlace at(std::uint64_t address) const;
    // The function's DW_AT_calling_convention, convention_by_callers, or 0: the usual one.
    unsigned convention(std::uint64_t address) const;
    // A value that is no compiler's extension: GCC may have fitted the function's callers to the
    // registers that it changes (-fipa-ra).
    static constexpr unsigned convention_by_callers = 1;

private:
    struct Place {
        std::uint32_t file = 0;  // index in files_
        std::uint32_t line = 0;
    };
    static constexpr std::size_t most_places = std::size_t{1} << 20;

    void add(std::uint64_t address, const char* file, std::uint32_t line);
    void add_function(Dwarf_Die* function);
    void walk(Dwarf_Die* parent, int depth);
    std::array<std::uint64_t, 3> begins(std::uint64_t address) const;

    const Arch& arch_;
    std::unordered_map<std::uint64_t, Place> places_;
    std::unordered_map<std::uint64_t, std::uint8_t> conventions_;  // other than the usual one
    SourceFiles files_;
    std::size_t entries_ = 0;  // number of visited DWARF entries
    unsigned convention_of_unit_ = 0;
};

// Why tracing breaks the function at this patch site, and the remedy: a phrase behind its name.
// Empty: neither DWARF nor the function's first instructions say that it does.
std::string broken_by_tracing(const ElfFile& elf, const SourceLines& lines, std::uint64_t site);

struct LinePlace {
    std::uint32_t file = 0;  // index in LineTable::files()
    std::uint32_t line = 0;  // from 1
    bool operator==(const LinePlace&) const = default;
};

// Reads all line programs of the file once. A file may have none.
class LineTable {
public:
    static constexpr std::size_t max_rows = std::size_t{1} << 22;  // drops further rows

    explicit LineTable(const ElfFile& elf);

    // The place of the instruction at this link-time address.
    std::optional<LinePlace> at(std::uint64_t address) const;
    // Names as in DWARF.
    const std::vector<std::string>& files() const { return files_.names(); }

private:
    struct Row {
        std::uint64_t address;
        LinePlace place;  // line 0: no line from here on
    };

    std::vector<Row> rows_;  // ascending
    SourceFiles files_;
};

}  // namespace nopscope::host
