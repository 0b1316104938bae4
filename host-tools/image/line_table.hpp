// SPDX-License-Identifier: Apache-2.0
// Finds an instruction's source line in DWARF's line programs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host-tools/image/dwarf_file.hpp"

namespace nopscope::host {

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
