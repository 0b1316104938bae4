// SPDX-License-Identifier: Apache-2.0
#include "host-tools/image/line_table.hpp"

#include <algorithm>
#include <tuple>

namespace nopscope::host {

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
