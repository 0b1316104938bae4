// SPDX-License-Identifier: Apache-2.0
// The address space: everything at its physical address, plus a second, writable mapping of text
// (text_alias_offset in machine.hpp). No page is writable and executable. Not mapped: address 0, a
// page below each stack, and all that neither the image, its heap nor the board's devices need.
#pragma once

#include <cstdint>

namespace nopscope::hal {

// Boot, MMU and caches off: fills the tables and the registers that describe them; `features` of
// SCTLR_EL1 follow from the CPU. Panics when the table pool is too small.
void mmu_prepare();

struct HeapBounds {
    std::uint64_t low;
    std::uint64_t high;
};
HeapBounds heap_bounds();

}  // namespace nopscope::hal
