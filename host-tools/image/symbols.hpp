// SPDX-License-Identifier: Apache-2.0
// What names a recording: the image's patch sites with their functions' names and places, and what
// tells one image from another. Made from an ELF, or read from a recording that carries it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host-tools/image/elf_file.hpp"
#include "host-tools/image/arch/arm64/tail_calls.hpp"

namespace nopscope::host {

// Bytes of names that are made of one image. A table of few bytes can refer to one long name many times.
class NameBudget {
public:
    static constexpr std::size_t most_bytes = std::size_t{1} << 27;

    explicit NameBudget(const ElfFile& elf) : elf_(elf) {}
    // Throws Error: these are too many.
    void take(std::size_t bytes);

private:
    const ElfFile& elf_;
    std::size_t bytes_ = 0;
};

struct Function {
    std::uint64_t address = 0;  // link time
    std::uint64_t size = 0;
    std::string name;  // demangled
    std::string file;  // of its definition; empty when unknown
    std::uint32_t line = 0;
    std::string linkage_name = {};  // from an ELF, where it is another than `name`
    bool landing_pad = true;  // it begins with `bti c`
};

struct Symbols {
    std::string origin;    // the path of the image
    std::string build_id;  // bytes; empty: the image has none, see without_build_id
    std::uint32_t site_table_crc = 0;
    std::vector<Function> sites;  // ascending address, no duplicates
    std::vector<Function> code;   // likewise: functions and labels of the text that have no site; sizes not 0
    std::vector<TailCalls> tails;  // of each site; none: not known

    // The function whose site is at this link-time address.
    const Function* find(std::uint64_t address) const;
    // Whether calls of one site's function by another's are tail calls; by their link-time addresses.
    Tail tail(std::uint64_t caller, std::uint64_t callee) const;
    // The one, with a site or without, that this link-time address lies in, or null.
    const Function* around(std::uint64_t address) const;
};

// Functions of the sites in the image's table, ascending, without empty and repeated entries: the
// table as the tracer sorts it at boot. Found by the linker's symbols, or by the section's name.
// Throws Error: there are more than most_sites.
std::vector<std::uint64_t> site_addresses(const ElfFile& elf);
inline constexpr std::size_t most_sites = std::size_t{1} << 20;

std::uint32_t site_table_crc(const std::vector<std::uint64_t>& addresses);

// Throws Error: the names are more than a NameBudget has.
Symbols read_symbols(const ElfFile& elf);

// What names `address`: a function before a label, global before local, then the first; or null.
const ElfSymbol* symbol_at(const ElfFile& elf, std::uint64_t address);

// `name` itself where it is no C++ function's, or one whose text would have more than 4096 bytes.
std::string demangled(std::string_view name);

// What follows from a missing build-id, and what to do: the second half of a sentence.
inline constexpr char without_build_id[] =
    "nopscope cannot tell whether an ELF fits a recording: link with --build-id";

}  // namespace nopscope::host
