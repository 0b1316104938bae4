// SPDX-License-Identifier: Apache-2.0
#include "host-tools/image/read_symbols.hpp"

#include <cxxabi.h>
#include <fmt/format.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/Demangle/Demangle.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "host-tools/base/error.hpp"
#include "host-tools/base/output.hpp"
#include "host-tools/base/text.hpp"
#include "host-tools/image/source_lines.hpp"
#include "tracer/protocol/bytes.hpp"
#include "tracer/protocol/crc32c.hpp"

namespace nopscope::host {
namespace {

// A table entry is the address of the first of the two NOPs before the function.
constexpr std::uint64_t nops_before_bytes = 8;
// Demangling a hostile name may take very long; compilers make no such names.
constexpr std::size_t longest_name_demangled = 4096;
constexpr double most_demangled = 1 << 24;
constexpr std::size_t bytes_of_function = 256;  // without its names' characters

// An upper limit for the bytes of the demangled name. A reference (S_, S1_, T_, ...) repeats an
// earlier part of the name. So r references make it grow most if they triple it r/3 times.
double demangled_bytes(std::string_view name) {
    double references = 0;
    for (std::size_t i = 0; i < name.size(); ++i) {
        if (name[i] != 'S' && name[i] != 'T') continue;
        std::size_t end = i + 1;
        while (end < name.size() &&
               ((name[end] >= '0' && name[end] <= '9') || (name[end] >= 'A' && name[end] <= 'Z')))
            ++end;
        if (end < name.size() && name[end] == '_') ++references;
    }
    return static_cast<double>(name.size()) * std::pow(3, references / 3);
}

Function function_at(const ElfFile& elf, std::uint64_t address, const SourceLines& lines,
                     NameBudget& budget) {
    Function function;
    function.address = address;
    const ElfSymbol* const symbol = symbol_at(elf, address);
    function.name = symbol != nullptr ? demangled(symbol->name) : hex_address(address);
    if (symbol != nullptr) function.size = symbol->size;
    const SourcePlace place = lines.at(address);
    function.file = place.file;
    function.line = place.line;
    budget.take(bytes_of_function + function.name.size() + function.file.size());
    function.aliases = names_at(elf, address, budget);
    std::erase(function.aliases, function.name);
    return function;
}

// Names for the text outside `sites`. An assembler's label without a size extends to the next
// symbol, or to its section's end. A label inside a symbol that has a size names nothing.
std::vector<Function> code_without_sites(const ElfFile& elf, const std::vector<Function>& sites,
                                         const SourceLines& lines, NameBudget& budget) {
    std::vector<Function> code;
    const auto& symbols = elf.symbols();
    std::uint64_t covered = 0;
    auto site = sites.begin();
    for (std::size_t i = 0; i < symbols.size(); ++i) {
        const std::uint64_t address = symbols[i].address;
        if (i != 0 && address == symbols[i - 1].address) continue;
        for (; site != sites.end() && site->address <= address; ++site) {
            covered = std::max(covered, site->address + site->size);
        }
        const ElfSymbol* const symbol = symbol_at(elf, address);
        const ElfSection* const section = elf.section_at(address);
        if (address < covered || symbol == nullptr || section == nullptr || !section->is_code())
            continue;
        Function function = function_at(elf, address, lines, budget);
        if (function.size == 0) {
            std::uint64_t end = section->address + section->size;
            for (std::size_t next = i; next < symbols.size(); ++next) {
                if (symbols[next].address == address || symbols[next].is_mapping()) continue;
                end = std::min(end, symbols[next].address);
                break;
            }
            function.size = end - address;
        }
        covered = address + function.size;
        code.push_back(std::move(function));
    }
    return code;
}

std::vector<std::uint64_t> function_addresses(const ElfFile& elf) {
    std::vector<std::uint64_t> addresses;
    for (const ElfSymbol& symbol : elf.symbols()) {
        if (symbol.is_function() && (addresses.empty() || addresses.back() != symbol.address))
            addresses.push_back(symbol.address);
        if (addresses.size() > most_sites) break;
    }
    return addresses;
}

}  // namespace

std::string no_code_sentence(const ElfFile& elf) {
    return elf.path() +
           " is a debug file, with names but without code: give the image that it belongs to, and "
           "keep this file where .gnu_debuglink or .build-id/ finds it";
}

void NameBudget::take(std::size_t bytes) {
    bytes_ += bytes;
    if (bytes_ <= most_bytes) return;
    throw Error(
        fmt::format("the functions of {} and their names take more than {} MB: is it damaged?",
                    elf_.path(), most_bytes >> 20));
}

std::vector<std::string> names_at(const ElfFile& elf, std::uint64_t address, NameBudget& budget) {
    std::vector<std::string> names;
    for (const ElfSymbol* const symbol : symbols_at(elf, address)) {
        for (std::string name : {demangled(symbol->name), std::string(symbol->name)}) {
            budget.take(sizeof name + name.size());
            names.push_back(std::move(name));
        }
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

std::string demangled(std::string_view name) {
    std::string terminated(name);
    if (!name.starts_with("_Z") || name.size() > longest_name_demangled ||
        demangled_bytes(name) > most_demangled) {
        return terminated;
    }
    int status = 0;
    char* text = abi::__cxa_demangle(terminated.c_str(), nullptr, nullptr, &status);
    // GCC 12's library cannot read variadic generic lambdas. LLVM's alone would not do: it writes
    // other names than GDB for lambdas and clones.
#if LLVM_VERSION_MAJOR < 17
    if (status != 0) text = llvm::itaniumDemangle(terminated.c_str(), nullptr, nullptr, &status);
#else  // from 18 on it reads the constraints of C++20
    if (status != 0) text = llvm::itaniumDemangle(terminated);
#endif
    const bool is_good = text != nullptr && std::strlen(text) <= longest_name_demangled;
    std::string result = is_good ? text : terminated;
    std::free(text);
    return result;
}

std::vector<std::uint64_t> site_addresses(const ElfFile& elf) {
    std::span<const std::uint8_t> table;
    const auto start = elf.symbol_address("__nopscope_sites_start");
    const auto end = elf.symbol_address("__nopscope_sites_end");
    if (start && end && *end > *start) {
        table = elf.bytes_at(*start, *end - *start);
    } else {  // without a tracer, nopscope.ld does not provide the symbols
        for (const char* name : {"__patchable_function_entries", ".nopscope.sites"}) {
            if (const ElfSection* section = elf.section(name)) table = section->bytes;
        }
    }
    if (table.size() > most_sites * 8) {
        throw Error(fmt::format("{} has more than {} patch sites: is it damaged?", elf.path(),
                                with_commas(most_sites)));
    }
    std::vector<std::uint64_t> addresses;
    protocol::Reader in(table.data(), table.size());
    while (in.left() >= 8) {
        if (const auto entry = in.fixed<std::uint64_t>(); entry != 0) {
            addresses.push_back(entry + nops_before_bytes);
        }
    }
    std::sort(addresses.begin(), addresses.end());
    addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
    return addresses;
}

std::uint32_t site_table_crc(const std::vector<std::uint64_t>& addresses) {
    std::uint32_t crc = 0;
    for (const std::uint64_t address : addresses) {
        protocol::Byte bytes[8];
        protocol::Writer(bytes).fixed(address);
        crc = protocol::crc32c(bytes, sizeof bytes, crc);
    }
    return crc;
}

Symbols read_symbols(const ElfFile& elf, DebugFile debug_file) {
    Symbols symbols;
    symbols.origin = elf.path();
    symbols.arch = &elf.arch();
    symbols.names_only = elf.is_debug_file();
    if (symbols.names_only && debug_file == DebugFile::refused) throw Error(no_code_sentence(elf));
    const auto id = elf.build_id();
    symbols.build_id.assign(id.begin(), id.end());
    const auto addresses = symbols.names_only ? function_addresses(elf) : site_addresses(elf);
    if (!symbols.names_only) symbols.site_table_crc = site_table_crc(addresses);
    if (elf.symbols().empty() && !addresses.empty()) {
        say(elf.path() +
            " is stripped: functions have no names without its debug file, which is looked for "
            "beside it by .gnu_debuglink and .build-id/");
    }
    const SourceLines lines(elf);
    NameBudget budget(elf);
    for (const std::uint64_t address : addresses) {
        Function function = function_at(elf, address, lines, budget);
        function.landing_pad =
            symbols.names_only || elf.arch().is_site_landing_pad(elf.word_at(address).value_or(0));
        if (std::string why = broken_by_tracing(elf, lines, address); !why.empty()) {
            budget.take(sizeof(Problem) + function.name.size() + why.size());
            symbols.broken_by_tracing.push_back({address, function.name, std::move(why)});
        }
        symbols.sites.push_back(std::move(function));
    }
    symbols.code = code_without_sites(elf, symbols.sites, lines, budget);
    if (!symbols.names_only) symbols.tails = tail_calls(elf, addresses);
    return symbols;
}

}  // namespace nopscope::host
