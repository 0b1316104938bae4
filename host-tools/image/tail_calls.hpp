// SPDX-License-Identifier: Apache-2.0
// Which calls of one patch site's function by another are tail calls: the code says so, where the
// recorder does not. A function that only jumps to another tail-calls it; one that has a call of it
// and a jump may do either.
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
    std::vector<Target> direct;  // ascending; those of `never` only where `others` is not
    Tail others = Tail::never;   // of functions that are not in the list: indirect

    Tail of(std::uint32_t site) const;
    bool operator==(const TailCalls&) const = default;
};

// Of each site's function, with the parts that the compiler has moved out of it (NAME.cold).
// `sites`: their addresses, ascending.
std::vector<TailCalls> tail_calls(const ElfFile& elf, const std::vector<std::uint64_t>& sites);

}  // namespace nopscope::host
