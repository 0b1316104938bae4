// SPDX-License-Identifier: Apache-2.0
// What an image that was read has at an address, or by a name.
#include <algorithm>

#include "host-tools/image/elf_file.hpp"
#include "tracer/protocol/bytes.hpp"

namespace nopscope::host {

const ElfSection* ElfFile::section(std::string_view name) const {
    for (const ElfSection& section : sections_) {
        if (section.name == name) return &section;
    }
    return nullptr;
}

std::optional<std::uint64_t> ElfFile::symbol_address(std::string_view name) const {
    for (const ElfSymbol& symbol : symbols_) {
        if (symbol.name == name && symbol.section != 0) return symbol.address;
    }
    return std::nullopt;
}

const ElfSection* ElfFile::section_at(std::uint64_t address) const {
    auto after = std::ranges::upper_bound(by_address_, address, {},
                                          [this](std::size_t i) { return sections_[i].address; });
    // One that has contents counts before NOBITS (.tbss lies over what follows it). Sections of a
    // program hardly overlap, and so a few are looked at.
    const ElfSection* found = nullptr;
    for (int looks = 0; after != by_address_.begin() && looks < 8; ++looks) {
        const ElfSection& section = sections_[*--after];
        if (address - section.address >= section.size) continue;
        if (!section.bytes.empty()) return &section;
        if (found == nullptr) found = &section;
    }
    return found;
}

std::span<const std::uint8_t> ElfFile::bytes_at(std::uint64_t address, std::uint64_t count) const {
    const ElfSection* const section = section_at(address);
    if (section == nullptr) return {};
    const std::uint64_t offset = address - section->address, size = section->bytes.size();
    if (offset > size || count > size - offset) return {};
    return section->bytes.subspan(offset, count);
}

std::optional<std::uint32_t> ElfFile::word_at(std::uint64_t address) const {
    const auto found = bytes_at(address, 4);
    if (found.empty()) return std::nullopt;
    return protocol::Reader(found.data(), 4).fixed<std::uint32_t>();
}
std::optional<std::uint32_t> ElfFile::code_at(std::uint64_t address) const {
    auto found = bytes_at(address, 4);
    if (found.empty()) found = bytes_at(address, arch_->least_bytes);
    if (found.empty()) return std::nullopt;
    return CodeScan::first_word(found);
}
std::optional<std::uint64_t> ElfFile::quad_at(std::uint64_t address) const {
    const auto found = bytes_at(address, 8);
    if (found.empty()) return std::nullopt;
    return protocol::Reader(found.data(), 8).fixed<std::uint64_t>();
}

}  // namespace nopscope::host
