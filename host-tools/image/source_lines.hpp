// SPDX-License-Identifier: Apache-2.0
// Finds the definitions of functions in DWARF.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "host-tools/image/dwarf_file.hpp"

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

}  // namespace nopscope::host
