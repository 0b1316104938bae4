// SPDX-License-Identifier: Apache-2.0
// A linked image: a little-endian ELF64 file of a known architecture. This parser accepts any
// bytes: it checks every offset at its use, and treats an invalid part as absent. It refuses only a
// file that is no such ELF at all. (Field layout: System V ABI, chapter 4.)
//
// What `strip` took out of the image comes from its debug file (host-tools/image/debug_file.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host-tools/image/arch/arch.hpp"

namespace nopscope::host {

struct ElfSection {
    std::string_view name;
    std::uint32_t type = 0;
    std::uint64_t flags = 0;
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    // The contents of allocated sections, and of those with symbols, names or notes. Empty for
    // NOBITS, and if they lie outside the file.
    std::span<const std::uint8_t> bytes;
    std::uint32_t link = 0;

    bool is_allocated() const { return (flags & 2) != 0; }
    bool is_writable() const { return (flags & 1) != 0; }
    bool is_code() const { return is_allocated() && (flags & 4) != 0; }
};

struct ElfSymbol {
    std::string_view name;
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    std::uint8_t type = 0;  // STT_*
    bool is_local = false;
    bool is_weak = false;
    std::uint16_t section = 0;

    bool is_function() const { return type == 2 && section != 0; }
    // $x and $d tell code from data inside a section ("mapping symbols" of the ELF supplements).
    // RISC-V's $x may name the extensions: "$xrv64i2p1_m2p0".
    bool is_mapping() const {
        return name.size() >= 2 && name[0] == '$' && (name[1] == 'x' || name[1] == 'd') &&
               (name.size() == 2 || name[2] == '.' || name.starts_with("$xrv"));
    }
};

class ElfFile {
public:
    // Limit for the bytes of all sections; a firmware has less.
    static constexpr std::uint64_t most_bytes = std::uint64_t{1} << 28;
    static constexpr std::size_t most_symbols = std::size_t{1} << 22;
    static constexpr std::size_t longest_name_bytes = std::size_t{1} << 14;  // a longer one is none

    // Throws Error if it is not a little-endian ELF64 of a known architecture, or exceeds these
    // limits.
    ElfFile(std::vector<std::uint8_t> bytes, std::string path);
    // Reads only the sections that are needed, and the symbols of the debug file if the image has
    // none. Throws Error, also if the file cannot be read.
    static ElfFile open(const std::string& path);
    // The same without a look for the debug file.
    static ElfFile open_alone(const std::string& path);

    const std::string& path() const { return path_; }
    const Arch& arch() const { return *arch_; }
    const std::vector<ElfSection>& sections() const { return sections_; }
    // Sorted by address.
    const std::vector<ElfSymbol>& symbols() const { return symbols_; }
    const ElfSection* section(std::string_view name) const;
    // The section with contents or NOBITS that the program has at this address; null: none.
    const ElfSection* section_at(std::uint64_t address) const;
    std::optional<std::uint64_t> symbol_address(std::string_view name) const;
    std::uint64_t entry() const { return entry_; }
    // The file with the debug sections: this one, or its debug file.
    const std::string& debug_path() const { return debug_path_; }
    // The decompressed size of the debug sections, as the file states it.
    std::uint64_t debug_bytes() const { return debug_bytes_; }
    // Whether the code has no contents: it is what `objcopy --only-keep-debug` writes.
    bool is_debug_file() const;
    // The words that dynamic relocations fill at start-up, ascending. The file has zeros there;
    // this object has the values for the link-time addresses.
    const std::vector<std::uint64_t>& relocated() const { return relocated_; }

    std::optional<std::uint32_t> word_at(std::uint64_t address) const;
    // The first bytes of the code there, for an instruction: 0 beyond the section's end.
    std::optional<std::uint32_t> code_at(std::uint64_t address) const;
    std::optional<std::uint64_t> quad_at(std::uint64_t address) const;
    // The file's bytes for [address, address + count), or nothing.
    std::span<const std::uint8_t> bytes_at(std::uint64_t address, std::uint64_t count) const;

    // NT_GNU_BUILD_ID's contents; empty if there is none.
    std::span<const std::uint8_t> build_id() const;

private:
    // The bytes of a part of the file, valid as long as this object; nothing: outside the file.
    using Part =
        std::function<std::span<const std::uint8_t>(std::uint64_t offset, std::uint64_t size)>;

    explicit ElfFile(std::string path) : path_(std::move(path)), debug_path_(path_) {}
    void read(const Part& part);
    void read_sections(const Part& part, std::span<const std::uint8_t> header);
    void read_symbols();
    void relocate();
    std::string_view string_at(std::uint32_t section, std::uint64_t offset) const;

    std::vector<std::vector<std::uint8_t>> parts_;
    std::string path_, debug_path_;
    const Arch* arch_ = nullptr;
    std::vector<ElfSection> sections_;
    std::vector<std::size_t> by_address_;  // allocated sections
    std::vector<ElfSymbol> symbols_;
    std::uint64_t entry_ = 0;
    std::vector<std::uint64_t> relocated_;
    std::uint64_t debug_bytes_ = 0;
};

}  // namespace nopscope::host
