// SPDX-License-Identifier: Apache-2.0
#include "host-tools/elf/line_table.hpp"

#include <elfutils/libdw.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <tuple>

namespace nopscope {

LineTable::LineTable(const std::string& path) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    if (Dwarf* dwarf = dwarf_begin(file, DWARF_C_READ)) {
        Dwarf_CU* unit = nullptr;
        Dwarf_Half version = 0;
        std::uint8_t type = 0;
        Dwarf_Die die;
        Dwarf_Die sub;
        while (dwarf_get_units(dwarf, unit, &unit, &version, &type, &die, &sub) == 0) {
            Dwarf_Lines* lines = nullptr;
            std::size_t count = 0;
            if (dwarf_getsrclines(&die, &lines, &count) != 0) continue;
            for (std::size_t i = 0; i < count && rows_.size() < max_rows; ++i) {
                Dwarf_Line* line = dwarf_onesrcline(lines, i);
                Dwarf_Addr address = 0;
                int number = 0;
                bool ends = false;
                if (dwarf_lineaddr(line, &address) != 0 || dwarf_lineendsequence(line, &ends) != 0) continue;
                const char* name = dwarf_linesrc(line, nullptr, nullptr);
                if (ends || name == nullptr || dwarf_lineno(line, &number) != 0 || number <= 0) {
                    rows_.push_back({address, {}});
                } else {
                    rows_.push_back({address, {number_of(name), static_cast<std::uint32_t>(number)}});
                }
            }
        }
        dwarf_end(dwarf);
    }
    close(file);
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
