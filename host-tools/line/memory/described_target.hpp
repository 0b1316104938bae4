// SPDX-License-Identifier: Apache-2.0
// The state of a target's tracer, from its descriptor (tracer/core/descriptor.hpp), checked.
#pragma once

#include <cstdint>
#include <vector>

#include "host-tools/image/elf_file.hpp"
#include "host-tools/line/memory/target_memory.hpp"
#include "tracer/core/descriptor.hpp"
#include "tracer/protocol/hello.hpp"

namespace nopscope::host {

struct DescribedCore {
    std::uint64_t cursor;  // positions are the target's: they count from its ring's size
    std::uint64_t seen;
    std::uint64_t seen_clock;
    std::uint64_t doubled_from;
    std::uint64_t dropped;
    std::uint64_t shadow_stack_full;
    std::uint64_t off_stack;
    std::uint64_t filtered;  // with calls that were skipped
    std::uint32_t last_context_recorded;
    bool flight;
};

class DescribedTarget {
public:
    // Throws Error, as pull_rings() does.
    DescribedTarget(TargetMemory& memory, const ElfFile& image);

    const protocol::Hello& hello() const { return hello_; }
    std::uint16_t session() const { return static_cast<std::uint16_t>(descriptor_.session); }
    unsigned ring_log2() const { return descriptor_.ring_log2; }
    DescribedCore core(unsigned number) const;
    // The unchanged words of a core's ring between two positions, at most one ring.
    std::vector<std::uint64_t> ring(unsigned number, std::uint64_t from, std::uint64_t to) const;

private:
    void check_build_id(const ElfFile& image) const;
    void read_descriptor(const ElfFile& image);
    void read_hello();

    TargetMemory& memory_;
    Descriptor descriptor_{};
    std::vector<std::uint8_t> hello_bytes_;
    protocol::Hello hello_;  // its texts point into hello_bytes_
};

}  // namespace nopscope::host
