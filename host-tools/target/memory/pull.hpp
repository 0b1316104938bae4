// SPDX-License-Identifier: Apache-2.0
// What the rings in a target's memory hold, as the line that the target would have sent it on.
#pragma once

#include <cstdint>
#include <vector>

#include "host-tools/image/elf_file.hpp"
#include "host-tools/target/memory/target_memory.hpp"

namespace nopscope::host {

// Of all cores' rings together, in equal shares: the newest records. With the line that is made of them they take
// less than 300 MB, whatever sizes the target's memory states.
inline constexpr std::uint64_t most_ring_bytes = std::uint64_t{1} << 26;

struct Pulled {
    std::vector<std::uint8_t> line;  // one whole session: hello, trace frames, final stats
    std::uint64_t records = 0;
    std::uint64_t refused = 0;       // what was there and cannot be a record: left out, counted as overwritten
    std::uint64_t left_out = 0;      // older ones, beyond most_ring_bytes: counted as overwritten
};
// `image`: the ELF that runs there. Throws Error, one sentence: the memory cannot be read, is another
// image's, has no tracer that was initialised, or its state makes no sense.
Pulled pull_rings(TargetMemory& memory, const ElfFile& image);

}  // namespace nopscope::host
