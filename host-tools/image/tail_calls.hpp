// SPDX-License-Identifier: Apache-2.0
// Finds out from the code which calls between functions with patch sites are tail calls. A
// recording does not have this fact. A function that only jumps to another one always tail-calls
// it. A function that both calls and jumps to it may do either.
#pragma once

#include <cstdint>
#include <vector>

#include "host-tools/image/elf_file.hpp"
#include "host-tools/image/symbols.hpp"

namespace nopscope::host {

// Reads each site's function, with the parts that the compiler moved out of it (NAME.cold).
// `sites`: their addresses, ascending. Empty: these parts are too large to be real.
std::vector<TailCalls> tail_calls(const ElfFile& elf, const std::vector<std::uint64_t>& sites);

}  // namespace nopscope::host
