// SPDX-License-Identifier: Apache-2.0
#include "host-tools/image/dwarf_file.hpp"

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gelf.h>
#include <unistd.h>
#include <zstd.h>

#include <cstring>
#include <new>
#include <span>

#include "host-tools/base/memory.hpp"
#include "host-tools/base/output.hpp"
#include "host-tools/image/debug_file.hpp"
#include "host-tools/image/source_text.hpp"
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
    std::string text = source_path(name);
    if (const auto known = numbers_.find(text); known != numbers_.end()) return known->second;
    if (bytes_ + name.size() > most_bytes) return std::nullopt;
    bytes_ += name.size();
    const auto number = static_cast<std::uint32_t>(names_.size());
    names_.push_back(text);
    numbers_.emplace(std::move(text), number);
    return number;
}

Dwarf* OpenDwarf::open(const std::string& path) {
    close();
    elf_version(EV_CURRENT);
    file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file_ < 0) return nullptr;
    elf_ = elf_begin(file_, ELF_C_READ_MMAP, nullptr);
    if (elf_ == nullptr || !unpack()) return nullptr;
    dwarf_ = dwarf_begin_elf(elf_, DWARF_C_READ, nullptr);
    if (dwarf_ != nullptr) dwarf_new_oom_handler(dwarf_, on_no_memory);
    return dwarf_;
}

// Puts unpacked contents in place of what zstd compressed. Returns false if the debug sections
// claim more than most_bytes.
bool OpenDwarf::unpack() {
    constexpr unsigned by_zstd = 2;  // ELFCOMPRESS_ZSTD
    bool is_writable = false;
    std::uint64_t sum = 0;
    for (Elf_Scn* section = elf_nextscn(elf_, nullptr); section != nullptr;
         section = elf_nextscn(elf_, section)) {
        GElf_Shdr header;
        GElf_Chdr compressed;
        if (gelf_getshdr(section, &header) == nullptr || (header.sh_flags & SHF_ALLOC) != 0)
            continue;
        const bool is_compressed = gelf_getchdr(section, &compressed) != nullptr;
        const std::uint64_t bytes = is_compressed ? compressed.ch_size : header.sh_size;
        if (bytes > DwarfFile::most_bytes || (sum += bytes) > DwarfFile::most_bytes) return false;
        if (!is_compressed || compressed.ch_type != by_zstd) continue;
        if (!is_writable) {  // what is mapped cannot be changed
            const std::size_t index = elf_ndxscn(section);
            elf_end(elf_);
            elf_ = elf_begin(file_, ELF_C_READ, nullptr);
            section = elf_ == nullptr ? nullptr : elf_getscn(elf_, index);
            if (section == nullptr || gelf_getshdr(section, &header) == nullptr) return false;
            is_writable = true;
        }
        Elf_Data* const data = elf_rawdata(section, nullptr);
        if (data == nullptr || data->d_size < sizeof(Elf64_Chdr)) continue;
        std::vector<std::uint8_t>& plain = unpacked_.emplace_back(bytes);
        if (ZSTD_decompress(plain.data(), plain.size(),
                            static_cast<const char*>(data->d_buf) + sizeof(Elf64_Chdr),
                            data->d_size - sizeof(Elf64_Chdr)) != plain.size())
            continue;
        header.sh_flags &= ~GElf_Xword{SHF_COMPRESSED};
        header.sh_size = bytes;
        header.sh_addralign = compressed.ch_addralign;
        gelf_update_shdr(section, &header);
        for (Elf_Data* const view : {data, elf_getdata(section, nullptr)}) {
            if (view == nullptr) continue;
            view->d_buf = plain.data();
            view->d_size = plain.size();
        }
    }
    return true;
}

void OpenDwarf::close() {
    if (dwarf_ != nullptr) dwarf_end(dwarf_);
    if (elf_ != nullptr) elf_end(elf_);
    if (file_ >= 0) ::close(file_);
    dwarf_ = nullptr;
    elf_ = nullptr;
    file_ = -1;
    unpacked_.clear();
}

DwarfFile::DwarfFile(const ElfFile& elf)
    : path_(elf.debug_path()), debug_bytes_(elf.debug_bytes()) {
    if (debug_bytes_ > most_bytes) {
        say(fmt::format("{} has more than {} MB of debug information: source lines are left out",
                        path_, most_bytes >> 20));
        return;
    }
    open_again();
    if (debug_bytes_ == 0) return;
    if (main_.dwarf() == nullptr) {
        say(fmt::format("the debug information of {} cannot be read: source lines are left out",
                        path_));
        return;
    }
    find_shared();
}

void DwarfFile::open_again() {
    line_programs_ = nullptr;
    // libdw's hash tables abort where memory ends. So this throws std::bad_alloc first.
    main_.close();
    ::operator delete(::operator new(2 * debug_bytes_));
    Dwarf* const dwarf = main_.open(path_);
    if (dwarf == nullptr) return;
    line_programs_ = line_programs(dwarf_getelf(dwarf));
    if (shared_.dwarf() != nullptr) dwarf_setalt(dwarf, shared_.dwarf());
}

// Opens what .gnu_debugaltlink names.
void DwarfFile::find_shared() {
    const char* name = nullptr;
    const void* id = nullptr;
    const ssize_t id_bytes = dwelf_dwarf_gnu_debugaltlink(main_.dwarf(), &name, &id);
    if (id_bytes <= 0) return;
    const std::span wanted(static_cast<const std::uint8_t*>(id),
                           static_cast<std::size_t>(id_bytes));
    for (const std::string& place : debug_file_places(path_, name, wanted)) {
        Dwarf* const dwarf = shared_.open(place);
        const void* its = nullptr;
        if (shared_.elf() == nullptr || dwelf_elf_gnu_build_id(shared_.elf(), &its) != id_bytes ||
            std::memcmp(its, id, wanted.size()) != 0)
            continue;
        if (dwarf != nullptr) dwarf_setalt(main_.dwarf(), dwarf);  // else it has only strings
        return;
    }
    shared_.close();
    say(
        fmt::format("{} shares debug information in {} (dwz -m), which was not found: source lines "
                    "may be missing",
                    path_, name));
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
