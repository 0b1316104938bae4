// SPDX-License-Identifier: Apache-2.0
// The names for a recording: the image's patch sites with their functions' names and places, and
// the image's identity. They come from an ELF (read_symbols.hpp), or from a recording that contains
// them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nopscope::host {

// Whether calls are tail calls: tail_calls() in tail_calls.hpp finds out.
enum class Tail : std::uint8_t { never, maybe, always };

struct TailCalls {
    struct Target {
        std::uint32_t site = 0;  // its number, by ascending address
        Tail tail = Tail::never;
        bool operator==(const Target&) const = default;
    };
    std::vector<Target> direct;  // ascending; has `never` only if `others` is not
    Tail others = Tail::never;   // for functions not in the list: indirect calls

    Tail of(std::uint32_t site) const;
    bool operator==(const TailCalls&) const = default;
};

struct Function {
    std::uint64_t address = 0;  // link time
    std::uint64_t size = 0;
    std::string name;  // demangled
    std::string file;  // of its definition; empty: unknown
    std::uint32_t line = 0;
    std::string linkage_name = {};  // from an ELF, if it differs from `name`
    bool landing_pad = true;        // it begins with one
};

struct Symbols {
    std::string origin;    // the path of the image
    std::string build_id;  // bytes; empty: the image has none, see without_build_id
    std::uint32_t site_table_crc = 0;
    std::vector<Function> sites;  // ascending address, no duplicates
    // Functions and labels of the text without a site; ascending, without duplicates, sizes not 0.
    std::vector<Function> code;
    std::vector<TailCalls> tails;  // of each site; empty: not known

    // The function whose site is at this link-time address.
    const Function* find(std::uint64_t address) const;
    // Whether calls from one site's function to another's are tail calls; by link-time addresses.
    Tail tail(std::uint64_t caller, std::uint64_t callee) const;
    // The function, with or without a site, that contains this link-time address, or null.
    const Function* around(std::uint64_t address) const;
};

// The effect of a missing build-id, and its remedy: the second half of a sentence.
inline constexpr char without_build_id[] =
    "nopscope cannot tell whether an ELF fits a recording: link with --build-id";

}  // namespace nopscope::host
