// SPDX-License-Identifier: Apache-2.0
#include "host-tools/image/dwarf_file.hpp"

#include <dwarf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gelf.h>
#include <unistd.h>

#include <cstring>
#include <new>

#include "host-tools/base/out_of_memory.hpp"
#include "host-tools/base/say.hpp"
#include "tracer/protocol/bytes.hpp"

namespace nopscope::host {
namespace {

// The decompressed line programs, from libdw; null: none.
Elf_Data* line_programs(Elf* elf) {
    std::size_t names = 0;
    if (elf == nullptr || elf_getshdrstrndx(elf, &names) != 0) return nullptr;
    for (Elf_Scn* section = elf_nextscn(elf, nullptr); section != nullptr;
         section = elf_nextscn(elf, section)) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) == nullptr) continue;
        const char* const its = elf_strptr(elf, names, header.sh_name);
        if (its != nullptr &&
            (std::strcmp(its, ".debug_line") == 0 || std::strcmp(its, ".zdebug_line") == 0))
            return elf_getdata(section, nullptr);
    }
    return nullptr;
}

// Has the attribute of Dwarf_OOM, because clang accepts no other type.
__attribute__((noreturn)) void on_no_memory() { exit_out_of_memory(); }

}  // namespace

std::optional<std::uint32_t> SourceFiles::number_of(std::string_view name) {
    if (name.size() > longest_name_bytes) return std::nullopt;
    std::string text(name);
    if (const auto known = numbers_.find(text); known != numbers_.end()) return known->second;
    if (bytes_ + name.size() > most_bytes) return std::nullopt;
    bytes_ += name.size();
    const auto number = static_cast<std::uint32_t>(names_.size());
    names_.push_back(text);
    numbers_.emplace(std::move(text), number);
    return number;
}

DwarfFile::DwarfFile(const ElfFile& elf) : path_(elf.path()), debug_bytes_(elf.debug_bytes()) {
    if (elf.debug_bytes() > most_bytes) {
        say(fmt::format("{} has more than {} MB of debug information: source lines are left out",
                        path_, most_bytes >> 20));
        return;
    }
    open_again();
}

void DwarfFile::open_again() {
    close_all();
    // libdw's hash tables abort where memory ends. So this throws std::bad_alloc first.
    ::operator delete(::operator new(2 * debug_bytes_));
    file_ = open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file_ >= 0) dwarf_ = dwarf_begin(file_, DWARF_C_READ);
    if (dwarf_ == nullptr) return;
    dwarf_new_oom_handler(dwarf_, on_no_memory);
    line_programs_ = line_programs(dwarf_getelf(dwarf_));
}

void DwarfFile::close_all() {
    if (dwarf_ != nullptr) dwarf_end(dwarf_);
    if (file_ >= 0) close(file_);
    dwarf_ = nullptr;
    line_programs_ = nullptr;
    file_ = -1;
}

// DWARF 5, 6.2.4: the header begins with the length of all that follows.
std::uint64_t DwarfFile::line_program_bytes(Dwarf_Die* unit) const {
    Dwarf_Attribute attribute;
    Dwarf_Word offset = 0;
    if (dwarf_attr(unit, DW_AT_stmt_list, &attribute) == nullptr ||
        dwarf_formudata(&attribute, &offset) != 0)
        return 0;
    const Elf_Data* const data = line_programs_;
    if (data == nullptr || data->d_buf == nullptr || offset > data->d_size) return 0;
    protocol::Reader in(static_cast<const std::uint8_t*>(data->d_buf) + offset,
                        data->d_size - offset);
    const auto length = in.fixed<std::uint32_t>();
    return length == 0xffff'ffff ? in.fixed<std::uint64_t>() : length;
}

}  // namespace nopscope::host
