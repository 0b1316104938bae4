// SPDX-License-Identifier: Apache-2.0
#include "host-tools/image/elf_file.hpp"

#include <fmt/format.h>

#include <algorithm>
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

constexpr std::uint32_t sht_symtab = 2;
constexpr std::uint32_t sht_strtab = 3;
constexpr std::uint32_t sht_rela = 4;
constexpr std::uint32_t sht_note = 7;
constexpr std::uint32_t sht_nobits = 8;
constexpr std::uint64_t shf_compressed = 0x800;
constexpr std::size_t elf_header_bytes = 64;
constexpr std::size_t section_header_bytes = 64;
constexpr std::uint64_t most_sections = ElfFile::most_bytes / section_header_bytes;
constexpr std::uint16_t shn_xindex = 0xffff;
constexpr std::size_t relocation_bytes = 24;
constexpr std::size_t symbol_bytes = 24;
constexpr std::uint32_t nt_gnu_build_id = 3;

using Bytes = std::span<const std::uint8_t>;

Bytes part(Bytes all, std::uint64_t offset, std::uint64_t size) {
    if (offset > all.size() || size > all.size() - offset) return {};
    return all.subspan(offset, size);
}

template <typename T>
T at(Bytes bytes, std::size_t offset) {
    const Bytes field = part(bytes, offset, sizeof(T));
    return protocol::Reader(field.data(), field.size()).fixed<T>();
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
    Bytes header = part_of(0, elf_header_bytes);
    for (std::size_t bytes = elf_header_bytes; header.empty() && bytes != 0;)  // a short file
        header = part_of(0, --bytes);
    if (const auto wrong = no_image(header)) throw Error(path_ + " " + *wrong);
    arch_ = arch_of_machine(at<std::uint16_t>(header, 18));
    entry_ = at<std::uint64_t>(header, 24);
    read_sections(part_of, header);
    read_symbols();
    relocate();
}

void ElfFile::read_sections(const Part& part_of, Bytes header) {
    const auto offset = at<std::uint64_t>(header, 40);
    const auto entry_bytes = at<std::uint16_t>(header, 58);
    std::uint64_t count = at<std::uint16_t>(header, 60);
    std::uint32_t names = at<std::uint16_t>(header, 62);
    if (offset == 0) {
        throw Error(path_ +
                    " has no section table, which something removed after the link: give the ELF "
                    "file as the linker wrote it");
    }
    if (entry_bytes != section_header_bytes) return;
    // Numbers of 16 bits that are too small are in the first section's header.
    const Bytes first = part_of(offset, section_header_bytes);
    if (count == 0) count = std::min(at<std::uint64_t>(first, 32), most_sections);
    if (names == shn_xindex) names = at<std::uint32_t>(first, 40);
    const Bytes headers = part_of(offset, count * section_header_bytes);
    const auto header_of = [&](std::size_t i) {
        return headers.subspan(i * section_header_bytes, section_header_bytes);
    };
    for (std::size_t i = 0; i < headers.size() / section_header_bytes; ++i) {
        const Bytes fields = header_of(i);
        ElfSection section;
        section.type = at<std::uint32_t>(fields, 4);
        section.flags = at<std::uint64_t>(fields, 8);
        section.address = at<std::uint64_t>(fields, 16);
        section.size = at<std::uint64_t>(fields, 32);
        section.link = at<std::uint32_t>(fields, 40);
        const bool is_read = section.is_allocated() || section.type == sht_symtab ||
                             section.type == sht_strtab || section.type == sht_note;
        if (section.type != sht_nobits && is_read)
            section.bytes = part_of(at<std::uint64_t>(fields, 24), section.size);
        sections_.push_back(section);
    }
    for (std::size_t i = 0; i < sections_.size(); ++i) {
        ElfSection& section = sections_[i];
        section.name = string_at(names, at<std::uint32_t>(header_of(i), 0));
        if (section.name == ".gnu_debuglink")
            section.bytes = part_of(at<std::uint64_t>(header_of(i), 24), section.size);
        if (!section.name.starts_with(".debug") && !section.name.starts_with(".zdebug")) continue;
        // A compressed section begins with its size: in the gABI's Elf64_Chdr, or after GNU's
        // "ZLIB" in 8 big-endian bytes.
        const Bytes head =
            part_of(at<std::uint64_t>(header_of(i), 24), std::min<std::uint64_t>(section.size, 16));
        std::uint64_t bytes = section.size;
        if ((section.flags & shf_compressed) != 0) {
            bytes = at<std::uint64_t>(head, 8);
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
        if (table.type != sht_rela || !table.is_allocated()) continue;
        for (std::size_t i = 0; i < table.bytes.size() / relocation_bytes; ++i) {
            const Bytes entry = table.bytes.subspan(i * relocation_bytes, relocation_bytes);
            const auto where = at<std::uint64_t>(entry, 0);
            if (at<std::uint64_t>(entry, 8) != arch_->relative_relocation) continue;
            const Bytes word = bytes_at(where, 8);
            if (word.empty() || at<std::uint64_t>(word, 0) != 0) continue;
            // The bytes are in parts_, which are this object's.
            std::memcpy(const_cast<std::uint8_t*>(word.data()), entry.data() + 16, 8);
            relocated_.push_back(where);
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
        if (table.type != sht_symtab) continue;
        for (std::size_t i = 1; i < table.bytes.size() / symbol_bytes; ++i) {
            if (symbols_.size() == most_symbols) {
                throw Error(fmt::format("{} has more than {} symbols: is it damaged?", path_,
                                        most_symbols));
            }
            const Bytes entry = table.bytes.subspan(i * symbol_bytes, symbol_bytes);
            ElfSymbol symbol;
            symbol.name = string_at(table.link, at<std::uint32_t>(entry, 0));
            symbol.type = entry[4] & 15;
            symbol.is_local = (entry[4] >> 4) == 0;
            symbol.is_weak = (entry[4] >> 4) == 2;
            symbol.section = at<std::uint16_t>(entry, 6);
            symbol.address = at<std::uint64_t>(entry, 8);
            symbol.size = at<std::uint64_t>(entry, 16);
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
               return !is_code(one) || one.type == sht_nobits;
           });
}

Bytes ElfFile::build_id() const {
    for (const ElfSection& section : sections_) {
        if (section.type != sht_note) continue;
        protocol::Reader in(section.bytes.data(), section.bytes.size());
        while (in.left() >= 12) {
            const auto name_bytes = in.fixed<std::uint32_t>();
            const auto value_bytes = in.fixed<std::uint32_t>();
            const auto type = in.fixed<std::uint32_t>();
            const auto padded = [](std::uint64_t size) { return (size + 3) & ~std::uint64_t{3}; };
            const std::uint8_t* name = in.bytes(padded(name_bytes));
            const std::uint8_t* value = in.bytes(value_bytes);
            if (name == nullptr || value == nullptr) break;
            if (type == nt_gnu_build_id && name_bytes == 4 && std::memcmp(name, "GNU", 4) == 0) {
                return {value, value_bytes};
            }
            in.bytes(std::min<std::uint64_t>(in.left(), padded(value_bytes) - value_bytes));
        }
    }
    return {};
}

}  // namespace nopscope::host
