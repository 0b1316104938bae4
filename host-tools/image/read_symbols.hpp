// SPDX-License-Identifier: Apache-2.0
// Reads an image's names from its ELF file.
#pragma once

#include "host-tools/image/elf_file.hpp"
#include "host-tools/image/symbols.hpp"

namespace nopscope::host {

// Limits the bytes of an image's names. A small table can refer to one long name many times.
class NameBudget {
public:
    static constexpr std::size_t most_bytes = std::size_t{1} << 27;

    explicit NameBudget(const ElfFile& elf) : elf_(elf) {}
    // Throws Error if the limit is exceeded.
    void take(std::size_t bytes);

private:
    const ElfFile& elf_;
    std::size_t bytes_ = 0;
};

// The functions in the image's site table, ascending, without empty and repeated entries, as the
// tracer sorts it at boot. The linker's symbols or the section's name locate the table. Throws
// Error if there are more than most_sites.
std::vector<std::uint64_t> site_addresses(const ElfFile& elf);
inline constexpr std::size_t most_sites = std::size_t{1} << 20;

std::uint32_t site_table_crc(const std::vector<std::uint64_t>& addresses);

// Throws Error if the names exceed a NameBudget, or if `elf` is a debug file, which has no site
// table. A caller that needs names only may take one.
enum class DebugFile : std::uint8_t { refused, gives_names };
Symbols read_symbols(const ElfFile& elf, DebugFile debug_file = DebugFile::refused);

// Why a debug file is not enough.
std::string no_code_sentence(const ElfFile& elf);

// The names of symbols_at(), demangled and not, sorted. Throws Error as `budget` does.
std::vector<std::string> names_at(const ElfFile& elf, std::uint64_t address, NameBudget& budget);

// `name` itself if it is not a C++ function's, or if the result would exceed 4096 bytes.
std::string demangled(std::string_view name);

}  // namespace nopscope::host
