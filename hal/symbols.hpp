// SPDX-License-Identifier: Apache-2.0
// The image in memory: the symbols of linker/sections.ld, and the heap.
#pragma once

#include <cstdint>

extern "C" {
extern char __ram_start[], __ram_end[];  // the board's linker script
extern char __image_start[], __image_end[];
extern char __text_start[], __text_end[];
extern char __rodata_start[], __rodata_end[];
extern char __data_start[], __writable_end[];
extern char __rtt_start[], __rtt_end[];
extern char __emergency_stack_low[], __emergency_stack_high[];  // the boot core's
extern char __stack_low[], __stack_high[];
extern char __core_stacks_low[], __core_stacks_high[];
extern char __heap_start[], __heap_end[];
}

namespace nopscope::hal {

inline std::uint64_t address_of(const void* symbol) {
    return reinterpret_cast<std::uint64_t>(symbol);
}
inline bool is_text(std::uint64_t address) {
    return address >= address_of(__text_start) && address < address_of(__text_end);
}

// From the image's end to the end of our memory.
struct HeapBounds {
    std::uint64_t low;
    std::uint64_t high;
};
HeapBounds heap_bounds();

}  // namespace nopscope::hal
