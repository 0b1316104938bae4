// SPDX-License-Identifier: Apache-2.0
// Reads the names for a recording from an ELF.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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

// Throws Error if the names exceed a NameBudget.
Symbols read_symbols(const ElfFile& elf);

// The symbol for `address`, or null. A function precedes a label, a global symbol a local one, and
// a symbol with a size one without; then the first one counts.
const ElfSymbol* symbol_at(const ElfFile& elf, std::uint64_t address);

// `name` itself if it is not a C++ function's, or if the result would exceed 4096 bytes.
std::string demangled(std::string_view name);

}  // namespace nopscope::host
