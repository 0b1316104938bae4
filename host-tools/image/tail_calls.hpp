// SPDX-License-Identifier: Apache-2.0
// Finds out from the code which calls between functions with patch sites are tail calls. A
// recording does not have this fact. A function that only jumps to another one always tail-calls
// it. A function that both calls and jumps to it may do either.
#pragma once

#include <cstdint>
#include <vector>

#include "host-tools/image/elf_file.hpp"

namespace nopscope::host {

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

// Reads each site's function, with the parts that the compiler moved out of it (NAME.cold).
// `sites`: their addresses, ascending. Empty: these parts are too large to be real.
std::vector<TailCalls> tail_calls(const ElfFile& elf, const std::vector<std::uint64_t>& sites);

}  // namespace nopscope::host
