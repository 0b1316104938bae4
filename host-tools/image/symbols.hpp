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
    std::vector<Problem> broken_by_tracing;  // sites; only from an ELF (conventions.hpp)
    bool names_only = false;  // of a debug file: `sites` are all functions, and have no CRC

    // The function whose site is at this link-time address.
    const Function* find(std::uint64_t address) const;
    // Whether calls from one site's function to another's are tail calls; by link-time addresses.
    Tail tail(std::uint64_t caller, std::uint64_t callee) const;
    // The function, with or without a site, that contains this link-time address, or null.
    const Function* around(std::uint64_t address) const;
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

// The symbol for `address`, or null. A function precedes a label, a name in the source that of a
// compiler's clone, and a symbol with a size one without; then a global symbol precedes a local
// one, and that a weak one, which the linker takes for want of another; then the first one counts.
const ElfSymbol* symbol_at(const ElfFile& elf, std::uint64_t address);
// All symbols for `address` of its kind (function or label), the first of them included.
std::vector<const ElfSymbol*> symbols_at(const ElfFile& elf, std::uint64_t address);
// Their names, demangled and not, sorted. Throws Error as `budget` does.
std::vector<std::string> names_at(const ElfFile& elf, std::uint64_t address, NameBudget& budget);

// `name` itself if it is not a C++ function's, or if the result would exceed 4096 bytes.
std::string demangled(std::string_view name);

// The effect of a missing build-id, and its remedy: the second half of a sentence.
inline constexpr char without_build_id[] =
    "nopscope cannot tell whether an ELF fits a recording: link with --build-id";

}  // namespace nopscope::host
