// SPDX-License-Identifier: Apache-2.0
// A site has 8 bytes of NOPs before the function and 8 at its entry. The NOPs have 2 bytes with
// compressed instructions (-fpatchable-function-entry=8,4), and 4 without (=4,2).
#include "host-tools/image/arch/riscv64/riscv64.hpp"
#include "host-tools/image/arch/riscv64/rv64.hpp"
#include "host-tools/image/elf_file.hpp"
#include "host-tools/image/symbols.hpp"

namespace nopscope::host::riscv64 {
namespace {

constexpr std::uint64_t part_bytes = 8;  // of the slot, and of the two words

// Whether whole NOPs, of the lengths for which `lengths` has a bit, fill the range.
bool has_nops(const ElfFile& elf, std::uint64_t begin, std::uint64_t bytes, unsigned lengths = 6) {
    const std::uint64_t end = begin + bytes;
    std::uint64_t at = begin;
    while (at < end) {
        const std::uint32_t word = elf.code_at(at).value_or(0);
        const unsigned length = word == rv64::nop ? 4 : (word & 0xffff) == rv64::short_nop ? 2 : 0;
        if ((lengths & length) == 0) return false;
        at += length;
    }
    return at == end;
}

bool is_function(const ElfFile& elf, std::uint64_t address) {
    const ElfSymbol* const symbol = symbol_at(elf, address);
    return symbol != nullptr && symbol->is_function();
}

}  // namespace

std::optional<SiteWords> site_words(const ElfFile& elf, std::uint64_t address) {
    if (address < part_bytes) return std::nullopt;
    const auto word = [&](std::uint64_t at) { return elf.word_at(at).value_or(0); };
    const SiteWords site{.setup_address = address, .word_address = address + 4};
    const bool untouched =
        has_nops(elf, address - part_bytes, part_bytes) && has_nops(elf, address, part_bytes);
    const std::uint32_t second = word(site.word_address);
    const bool initialised = rv64::is_auipc_t0(word(site.setup_address)) &&
                             (second == rv64::nop || rv64::is_jalr_t0(second));
    if (!untouched && !initialised) return std::nullopt;
    return site;
}

// The entry is that of the first NOP, and `address` 8 bytes after it.
const char* site_remedy(const ElfFile& elf, std::uint64_t address) {
    if (has_nops(elf, address - part_bytes, 8, 2) && is_function(elf, address - 4)) {
        return "its NOPs have 2 bytes, so compile its file with -fpatchable-function-entry=8,4";
    }
    if (has_nops(elf, address - part_bytes, 16, 4) && is_function(elf, address + part_bytes)) {
        return "its NOPs have 4 bytes, so compile its file with -fpatchable-function-entry=4,2";
    }
    return nullptr;
}

}  // namespace nopscope::host::riscv64
