// SPDX-License-Identifier: Apache-2.0
#include "host-tools/elf/line_table.hpp"

#include <algorithm>
#include <tuple>

#include "host-tools/elf/dwarf_file.hpp"

namespace nopscope {

LineTable::LineTable(const std::string& path) {
    const DwarfFile dwarf(path);
    dwarf.each_unit([&](Dwarf_Die* unit) {
        DwarfFile::each_line(unit, [&](std::uint64_t address, const char* file, std::uint32_t line) {
            if (rows_.size() == max_rows) return;
            rows_.push_back({address, file == nullptr ? LinePlace{} : LinePlace{number_of(file), line}});
        });
    });
    // Where one sequence ends another may begin: that one counts. Of several rows for an address the last does.
    std::stable_sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) {
        return std::tuple(a.address, a.place.line != 0) < std::tuple(b.address, b.place.line != 0);
    });
}

std::uint32_t LineTable::number_of(const char* file) {
    const auto [at, is_new] = numbers_.try_emplace(file, static_cast<std::uint32_t>(files_.size()));
    if (is_new) files_.emplace_back(file);
    return at->second;
}

std::optional<LinePlace> LineTable::at(std::uint64_t address) const {
    const auto after = std::upper_bound(rows_.begin(), rows_.end(), address,
                                        [](std::uint64_t wanted, const Row& row) { return wanted < row.address; });
    if (after == rows_.begin() || after[-1].place.line == 0) return std::nullopt;
    return after[-1].place;
}

}  // namespace nopscope
