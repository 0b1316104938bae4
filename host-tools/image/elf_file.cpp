// SPDX-License-Identifier: Apache-2.0
#include "host-tools/image/elf_file.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>

#include "host-tools/base/error.hpp"
#include "host-tools/base/file.hpp"
#include "host-tools/base/memory.hpp"
#include "host-tools/image/debug_file.hpp"
#include "host-tools/image/file_kind.hpp"
#include "tracer/protocol/bytes.hpp"

namespace nopscope::host {
namespace {

// Memory for the sections and their symbols, at most, per byte of the file.
constexpr std::uint64_t memory_of_byte = 16;

constexpr std::uint64_t most_sections = ElfFile::most_bytes / sizeof(Elf64_Shdr);

using Bytes = std::span<const std::uint8_t>;

Bytes part(Bytes all, std::uint64_t offset, std::uint64_t size) {
    if (offset > all.size() || size > all.size() - offset) return {};
    return all.subspan(offset, size);
}

// A structure or a number at the offset; zeros: it is not whole.
static_assert(std::endian::native == std::endian::little);
template <typename T>
T at(Bytes bytes, std::size_t offset = 0) {
    T value{};
    if (const Bytes field = part(bytes, offset, sizeof value); !field.empty())
        std::memcpy(&value, field.data(), sizeof value);
    return value;
}

}  // namespace

ElfFile ElfFile::open(const std::string& path) {
    ElfFile elf = open_alone(path);
    if (!elf.symbols_.empty() && elf.debug_bytes_ != 0) return elf;
    std::optional<ElfFile> debug = find_debug_file(elf);
    if (!debug) return elf;
    if (elf.symbols_.empty()) {
        elf.symbols_ = std::move(debug->symbols_);
        std::ranges::move(debug->parts_, std::back_inserter(elf.parts_));  // they have the names
    }
    if (elf.debug_bytes_ == 0) {
        elf.debug_path_ = debug->path_;
        elf.debug_bytes_ = debug->debug_bytes_;
    }
    return elf;
}

ElfFile ElfFile::open_alone(const std::string& path) {
    const FileParts file(path);
    ElfFile elf(path);
    std::uint64_t sum = 0;
    elf.read([&](std::uint64_t offset, std::uint64_t size) -> Bytes {
        if (offset > file.bytes() || size > file.bytes() - offset) return {};
        sum += size;
        if (sum > most_bytes) {
            throw Error(fmt::format("the sections of {} take more than {} MB: is it damaged?", path,
                                    most_bytes >> 20));
        }
        allow_memory(size * memory_of_byte);
        std::vector<std::uint8_t>& bytes = elf.parts_.emplace_back(size);
        return file.read(offset, bytes) ? Bytes(bytes) : Bytes();
    });
    allow_memory(2 * std::min(elf.debug_bytes_, most_bytes));  // for libdw and the line table
    return elf;
}

ElfFile::ElfFile(std::vector<std::uint8_t> bytes, std::string path) : ElfFile(std::move(path)) {
    const std::vector<std::uint8_t>& whole = parts_.emplace_back(std::move(bytes));
    read([&](std::uint64_t offset, std::uint64_t size) { return part(whole, offset, size); });
}

void ElfFile::read(const Part& part_of) {
    Bytes header = part_of(0, sizeof(Elf64_Ehdr));
    for (std::size_t bytes = sizeof(Elf64_Ehdr); header.empty() && bytes != 0;)  // a short file
        header = part_of(0, --bytes);
    if (const auto wrong = no_image(header)) throw Error(path_ + " " + *wrong);
    const auto fields = at<Elf64_Ehdr>(header);
    arch_ = arch_of_machine(fields.e_machine);
    entry_ = fields.e_entry;
    read_sections(part_of, header);
    read_symbols();
    relocate();
}

void ElfFile::read_sections(const Part& part_of, Bytes fields) {
    const auto header = at<Elf64_Ehdr>(fields);
    if (header.e_shoff == 0) {
        throw Error(path_ +
                    " has no section table, which something removed after the link: give the ELF "
                    "file as the linker wrote it");
    }
    if (header.e_shentsize != sizeof(Elf64_Shdr)) return;
    // Numbers of 16 bits that are too small are in the first section's header.
    const auto first = at<Elf64_Shdr>(part_of(header.e_shoff, sizeof(Elf64_Shdr)));
    const std::uint64_t count =
        header.e_shnum != 0 ? header.e_shnum : std::min(first.sh_size, most_sections);
    const std::uint32_t names = header.e_shstrndx != SHN_XINDEX ? header.e_shstrndx : first.sh_link;
    const Bytes table = part_of(header.e_shoff, count * sizeof(Elf64_Shdr));
    std::vector<Elf64_Shdr> headers(table.size() / sizeof(Elf64_Shdr));
    for (std::size_t i = 0; i < headers.size(); ++i)
        headers[i] = at<Elf64_Shdr>(table, i * sizeof(Elf64_Shdr));
    for (const Elf64_Shdr& of : headers) {
        ElfSection& section = sections_.emplace_back();
        section.type = of.sh_type;
        section.flags = of.sh_flags;
        section.address = of.sh_addr;
        section.size = of.sh_size;
        section.link = of.sh_link;
        const bool is_read = section.is_allocated() || of.sh_type == SHT_SYMTAB ||
                             of.sh_type == SHT_STRTAB || of.sh_type == SHT_NOTE;
        if (of.sh_type != SHT_NOBITS && is_read) section.bytes = part_of(of.sh_offset, of.sh_size);
    }
    for (std::size_t i = 0; i < sections_.size(); ++i) {
        ElfSection& section = sections_[i];
        section.name = string_at(names, headers[i].sh_name);
        if (section.name == ".gnu_debuglink")
            section.bytes = part_of(headers[i].sh_offset, section.size);
        if (!section.name.starts_with(".debug") && !section.name.starts_with(".zdebug")) continue;
        // A compressed section begins with its size: in the gABI's Elf64_Chdr, or after GNU's
        // "ZLIB" in 8 big-endian bytes.
        const Bytes head = part_of(headers[i].sh_offset, std::min<std::uint64_t>(section.size, 16));
        std::uint64_t bytes = section.size;
        if ((section.flags & SHF_COMPRESSED) != 0) {
            bytes = at<std::uint64_t>(head, offsetof(Elf64_Chdr, ch_size));
        } else if (section.name.starts_with(".zdebug")) {
            bytes = 0;
            for (std::size_t n = 4; n < std::min<std::size_t>(head.size(), 12); ++n)
                bytes = bytes << 8 | head[n];
        }
        debug_bytes_ += std::min(bytes, std::uint64_t{1} << 48);
    }
    for (std::size_t i = 0; i < sections_.size(); ++i) {
        if (sections_[i].is_allocated() && sections_[i].size != 0) by_address_.push_back(i);
    }
    std::ranges::stable_sort(by_address_, {},
                             [this](std::size_t i) { return sections_[i].address; });
}

// Gives each word that a relocation makes the address it has where the program was linked.
void ElfFile::relocate() {
    for (const ElfSection& table : sections_) {
        if (table.type != SHT_RELA || !table.is_allocated()) continue;
        for (std::size_t i = 0; i < table.bytes.size() / sizeof(Elf64_Rela); ++i) {
            const auto entry = at<Elf64_Rela>(table.bytes, i * sizeof(Elf64_Rela));
            if (entry.r_info != arch_->relative_relocation) continue;
            const Bytes word = bytes_at(entry.r_offset, 8);
            if (word.empty() || at<std::uint64_t>(word) != 0) continue;
            // The bytes are in parts_, which are this object's.
            std::memcpy(const_cast<std::uint8_t*>(word.data()), &entry.r_addend, 8);
            relocated_.push_back(entry.r_offset);
        }
    }
    std::sort(relocated_.begin(), relocated_.end());
}

std::string_view ElfFile::string_at(std::uint32_t section, std::uint64_t offset) const {
    if (section >= sections_.size()) return {};
    const Bytes table = sections_[section].bytes;
    if (offset >= table.size()) return {};
    const auto* begin = reinterpret_cast<const char*>(table.data() + offset);
    const void* end = std::memchr(
        begin, 0, std::min<std::uint64_t>(table.size() - offset, longest_name_bytes + 1));
    if (end == nullptr) return {};
    return {begin, static_cast<std::size_t>(static_cast<const char*>(end) - begin)};
}

void ElfFile::read_symbols() {
    for (const ElfSection& table : sections_) {
        if (table.type != SHT_SYMTAB) continue;
        for (std::size_t i = 1; i < table.bytes.size() / sizeof(Elf64_Sym); ++i) {
            if (symbols_.size() == most_symbols) {
                throw Error(fmt::format("{} has more than {} symbols: is it damaged?", path_,
                                        most_symbols));
            }
            const auto entry = at<Elf64_Sym>(table.bytes, i * sizeof(Elf64_Sym));
            ElfSymbol symbol;
            symbol.name = string_at(table.link, entry.st_name);
            symbol.type = ELF64_ST_TYPE(entry.st_info);
            symbol.is_local = ELF64_ST_BIND(entry.st_info) == STB_LOCAL;
            symbol.is_weak = ELF64_ST_BIND(entry.st_info) == STB_WEAK;
            symbol.section = entry.st_shndx;
            symbol.address = entry.st_value;
            symbol.size = entry.st_size;
            symbols_.push_back(symbol);
        }
    }
    std::stable_sort(symbols_.begin(), symbols_.end(),
                     [](const auto& a, const auto& b) { return a.address < b.address; });
}

bool ElfFile::is_debug_file() const {
    const auto is_code = [](const ElfSection& one) { return one.is_code() && one.size != 0; };
    return std::ranges::any_of(sections_, is_code) &&
           std::ranges::all_of(sections_, [&](const ElfSection& one) {
               return !is_code(one) || one.type == SHT_NOBITS;
           });
}

Bytes ElfFile::build_id() const {
    for (const ElfSection& section : sections_) {
        if (section.type != SHT_NOTE) continue;
        protocol::Reader in(section.bytes.data(), section.bytes.size());
        while (in.left() >= 12) {
            const auto name_bytes = in.fixed<std::uint32_t>();
            const auto value_bytes = in.fixed<std::uint32_t>();
            const auto type = in.fixed<std::uint32_t>();
            const auto padded = [](std::uint64_t size) { return (size + 3) & ~std::uint64_t{3}; };
            const std::uint8_t* name = in.bytes(padded(name_bytes));
            const std::uint8_t* value = in.bytes(value_bytes);
            if (name == nullptr || value == nullptr) break;
            if (type == NT_GNU_BUILD_ID && name_bytes == 4 && std::memcmp(name, "GNU", 4) == 0) {
                return {value, value_bytes};
            }
            in.bytes(std::min<std::uint64_t>(in.left(), padded(value_bytes) - value_bytes));
        }
    }
    return {};
}

}  // namespace nopscope::host
