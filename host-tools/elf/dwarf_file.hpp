// SPDX-License-Identifier: Apache-2.0
// An image's DWARF, by libdw. One that has none, or cannot be read, has no units.
#pragma once

#include <elfutils/libdw.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <string>

namespace nopscope {

class DwarfFile {
public:
    explicit DwarfFile(const std::string& path) : file_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
        if (file_ >= 0) dwarf_ = dwarf_begin(file_, DWARF_C_READ);
    }
    ~DwarfFile() {
        if (dwarf_ != nullptr) dwarf_end(dwarf_);
        if (file_ >= 0) close(file_);
    }
    DwarfFile(const DwarfFile&) = delete;
    DwarfFile& operator=(const DwarfFile&) = delete;

    // visit(Dwarf_Die* unit)
    template <typename Visit>
    void each_unit(Visit visit) const {
        Dwarf_CU* unit = nullptr;
        Dwarf_Half version = 0;
        std::uint8_t type = 0;
        Dwarf_Die die;
        Dwarf_Die sub;
        while (dwarf_ != nullptr && dwarf_get_units(dwarf_, unit, &unit, &version, &type, &die, &sub) == 0) visit(&die);
    }

    // visit(std::uint64_t address, const char* file, std::uint32_t line): from that address on; `file` null and `line` 0
    // where a sequence ends, and where the compiler names no line.
    template <typename Visit>
    static void each_line(Dwarf_Die* unit, Visit visit) {
        Dwarf_Lines* lines = nullptr;
        std::size_t count = 0;
        if (dwarf_getsrclines(unit, &lines, &count) != 0) return;
        for (std::size_t i = 0; i < count; ++i) {
            Dwarf_Line* line = dwarf_onesrcline(lines, i);
            Dwarf_Addr address = 0;
            bool ends = false;
            if (dwarf_lineaddr(line, &address) != 0 || dwarf_lineendsequence(line, &ends) != 0) continue;
            int number = 0;
            const char* file = ends ? nullptr : dwarf_linesrc(line, nullptr, nullptr);
            if (file == nullptr || dwarf_lineno(line, &number) != 0 || number <= 0) {
                visit(address, nullptr, 0u);
            } else {
                visit(address, file, static_cast<std::uint32_t>(number));
            }
        }
    }

private:
    int file_ = -1;
    Dwarf* dwarf_ = nullptr;
};

}  // namespace nopscope
