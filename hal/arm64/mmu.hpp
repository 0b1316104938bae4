// SPDX-License-Identifier: Apache-2.0
// The address space: all is mapped at its physical address, and text also at a writable alias
// (text_alias_offset in machine.hpp). No page is writable and executable. Not mapped: address 0, a
// page below each stack, and memory outside the image, its heap and the board's devices.
#pragma once

namespace nopscope::hal {

// Boot, MMU and caches off: fills the tables and sets MAIR, TCR and TTBR0. Panics if the table pool
// is too small.
void mmu_prepare();

}  // namespace nopscope::hal
