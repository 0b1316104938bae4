// SPDX-License-Identifier: Apache-2.0
// An image's DWARF, read with libdw. If it is absent or unreadable, there are no units.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "host-tools/image/elf_file.hpp"

namespace nopscope::host {

// Names of source files without duplicates.
class SourceFiles {
public:
    static constexpr std::size_t longest_name_bytes = 4096;  // PATH_MAX
    static constexpr std::size_t most_bytes = std::size_t{1} << 25;

    // Returns nothing if the name is longer than a path can be, or all names exceed most_bytes.
    std::optional<std::uint32_t> number_of(std::string_view name);
    const std::vector<std::string>& names() const { return names_; }

private:
    std::vector<std::string> names_;
    std::unordered_map<std::string, std::uint32_t> numbers_;
    std::size_t bytes_ = 0;
};

// A file that libdw reads. Sections that zstd compressed are unpacked here, because libelf before
// 0.189 cannot.
class OpenDwarf {
public:
    OpenDwarf() = default;
    OpenDwarf(const OpenDwarf&) = delete;
    OpenDwarf& operator=(const OpenDwarf&) = delete;
    ~OpenDwarf() { close(); }

    // Returns null if there is no debug information in it that can be read.
    Dwarf* open(const std::string& path);
    void close();
    Elf* elf() const { return elf_; }  // null: it is no ELF file
    Dwarf* dwarf() const { return dwarf_; }

private:
    bool unpack();

    int file_ = -1;
    Elf* elf_ = nullptr;
    Dwarf* dwarf_ = nullptr;
    std::vector<std::vector<std::uint8_t>> unpacked_;
};

// Limits memory by the sizes that the file states. If the debug sections exceed most_bytes or
// cannot be read, a message says so, and there are no units. libdw's line data is freed after each
// most_line_bytes.
class DwarfFile {
public:
    static constexpr std::uint64_t most_bytes = std::uint64_t{1} << 28;
    // libdw makes about 72 bytes of each row, which takes at least one byte in the file.
    static constexpr std::uint64_t most_line_bytes = std::uint64_t{1} << 20;

    explicit DwarfFile(const ElfFile& elf);
    ~DwarfFile() { main_.close(); }  // before shared_, to which it refers
    DwarfFile(const DwarfFile&) = delete;
    DwarfFile& operator=(const DwarfFile&) = delete;

    // Whether there are line programs that were not refused.
    bool has_line_programs() const { return line_programs_ != nullptr; }

    // visit(Dwarf_Die* unit)
    template <typename Visit>
    void each_unit(Visit visit) {
        Dwarf_Off next = 0;
        while (main_.dwarf() != nullptr) {
            const Dwarf_Off unit = next;
            std::size_t header_bytes = 0;
            Dwarf_Die die;
            if (dwarf_nextcu(main_.dwarf(), unit, &next, &header_bytes, nullptr, nullptr,
                             nullptr) != 0)
                return;
            if (dwarf_offdie(main_.dwarf(), unit + header_bytes, &die) == nullptr) continue;
            const std::uint64_t line_bytes = line_program_bytes(&die);
            if (line_bytes > most_line_bytes) continue;
            visited_line_bytes_ += line_bytes;
            if (visited_line_bytes_ > most_line_bytes) {
                open_again();
                visited_line_bytes_ = line_bytes;
                if (main_.dwarf() == nullptr ||
                    dwarf_offdie(main_.dwarf(), unit + header_bytes, &die) == nullptr)
                    continue;
            }
            visit(&die);
        }
    }

    // visit(std::uint64_t address, const char* file, std::uint32_t line): the place from this
    // address on. `file` is null and `line` is 0 at a sequence's end, and without a line number.
    template <typename Visit>
    static void each_line(Dwarf_Die* unit, Visit visit) {
        Dwarf_Lines* lines = nullptr;
        std::size_t count = 0;
        if (dwarf_getsrclines(unit, &lines, &count) != 0) return;
        for (std::size_t i = 0; i < count; ++i) {
            Dwarf_Line* line = dwarf_onesrcline(lines, i);
            Dwarf_Addr address = 0;
            bool ends = false;
            if (dwarf_lineaddr(line, &address) != 0 || dwarf_lineendsequence(line, &ends) != 0)
                continue;
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
    void open_again();
    void find_shared();
    // Size of the unit's line program, from its header; 0: none.
    std::uint64_t line_program_bytes(Dwarf_Die* unit) const;

    std::string path_;
    std::uint64_t debug_bytes_ = 0;
    OpenDwarf main_, shared_;  // shared with other images (dwz -m)
    Elf_Data* line_programs_ = nullptr;
    std::uint64_t visited_line_bytes_ = 0;
};

}  // namespace nopscope::host
