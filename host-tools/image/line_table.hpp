// SPDX-License-Identifier: Apache-2.0
// Which source line an instruction is of, from DWARF's line programs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host-tools/image/dwarf_file.hpp"

namespace nopscope::host {

struct LinePlace {
    std::uint32_t file = 0;  // LineTable::files()
    std::uint32_t line = 0;  // from 1
    bool operator==(const LinePlace&) const = default;
};

// Reads the whole file's line programs once. A file without any is not an error.
class LineTable {
public:
    static constexpr std::size_t max_rows = std::size_t{1} << 22;  // more than a firmware has; others are left out

    explicit LineTable(const ElfFile& elf);

    // Of the instruction at this link-time address.
    std::optional<LinePlace> at(std::uint64_t address) const;
    // As DWARF names them.
    const std::vector<std::string>& files() const { return files_.names(); }

private:
    struct Row {
        std::uint64_t address;
        LinePlace place;  // line 0: none, from here on
    };

    std::vector<Row> rows_;  // ascending
    SourceFiles files_;
};

}  // namespace nopscope::host
