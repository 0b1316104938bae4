// SPDX-License-Identifier: Apache-2.0
// Makes the line on which a target would have sent the rings in its memory.
#pragma once

#include <cstdint>
#include <vector>

#include "host-tools/image/elf_file.hpp"
#include "host-tools/line/memory/target_memory.hpp"

namespace nopscope::host {

// Limit for the rings of all cores together, in equal shares; the newest records count. With the
// line made from them they take less than 300 MB, whatever sizes the target's memory states.
inline constexpr std::uint64_t most_ring_bytes = std::uint64_t{1} << 26;

struct Pulled {
    std::vector<std::uint8_t> line;  // one whole session: hello, trace frames, final stats
    std::uint64_t refused = 0;       // invalid records: left out, counted as overwritten
    std::uint64_t left_out = 0;  // older records, beyond most_ring_bytes: counted as overwritten
};
// `image`: the ELF that runs there. Throws Error, one sentence, if the memory cannot be read,
// belongs to another image, has no initialised tracer, or contains a state that makes no sense.
Pulled pull_rings(TargetMemory& memory, const ElfFile& image);

}  // namespace nopscope::host
