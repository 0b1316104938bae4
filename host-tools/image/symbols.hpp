// SPDX-License-Identifier: Apache-2.0
// The names for a recording: the image's patch sites with their functions' names and places, and
// the image's identity. They come from an ELF, or from a recording that contains them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host-tools/image/elf_file.hpp"
#include "host-tools/image/tail_calls.hpp"

namespace nopscope::host {

struct Function {
    std::uint64_t address = 0;  // link time
    std::uint64_t size = 0;
    std::string name;  // demangled
    std::string file;  // of its definition; empty: unknown
    std::uint32_t line = 0;
    bool landing_pad = true;  // it begins with one
    // Its other names, sorted: as it is linked, if that differs from `name`, and those of other
    // symbols at its address.
    std::vector<std::string> aliases = {};
};

struct Problem {
    std::uint64_t address = 0;
    std::string function;  // demangled
    std::string what;      // a phrase: "is instrumented but has no site"
};
// One sentence, safe for a terminal.
std::string problem_text(const std::string& image, const Problem& problem);

struct Symbols {
    std::string origin;    // the path of the image
    std::string build_id;  // bytes; empty: the image has none, see without_build_id
    std::uint32_t site_table_crc = 0;
    const Arch* arch = nullptr;   // null: not known, because a recording has these names
    std::vector<Function> sites;  // ascending address, no duplicates
    // Functions and labels of the text without a site; ascending, without duplicates, sizes not 0.
    std::vector<Function> code;
    std::vector<TailCalls> tails;            // of each site; empty: not known
    std::vector<Problem> broken_by_tracing;  // sites; only from an ELF (source_lines.hpp)
    bool names_only = false;  // of a debug file: `sites` are all functions, and have no CRC

    // The function whose site is at this link-time address.
    const Function* find(std::uint64_t address) const;
    // Whether calls from one site's function to another's are tail calls; by link-time addresses.
    Tail tail(std::uint64_t caller, std::uint64_t callee) const;
    // The function, with or without a site, that contains this link-time address, or null.
    const Function* around(std::uint64_t address) const;
};

// The symbol for `address`, or null. A function precedes a label, a name in the source that of a
// compiler's clone, and a symbol with a size one without; then a global symbol precedes a local
// one, and that a weak one, which the linker takes for want of another; then the first one counts.
const ElfSymbol* symbol_at(const ElfFile& elf, std::uint64_t address);
// All symbols for `address` of its kind (function or label), the first of them included.
std::vector<const ElfSymbol*> symbols_at(const ElfFile& elf, std::uint64_t address);

// The effect of a missing build-id, and its remedy: the second half of a sentence.
inline constexpr char without_build_id[] =
    "nopscope cannot tell whether an ELF fits a recording: link with --build-id";

}  // namespace nopscope::host
