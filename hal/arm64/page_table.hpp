// SPDX-License-Identifier: Apache-2.0
// Stage-1 descriptors for a 4 KiB granule and 39-bit addresses. Three levels of 512 entries; an
// entry covers 1 GiB, 2 MiB or 4 KiB. Arm ARM DDI 0487, D8.3.
#pragma once

#include <cstdint>

namespace nopscope::hal {

inline constexpr unsigned page_shift = 12;
inline constexpr std::uint64_t page_bytes = 1u << page_shift;
inline constexpr unsigned table_entries = 512;
inline constexpr unsigned first_level = 1;
inline constexpr unsigned last_level = 3;

// The types in MAIR_EL1, by index.
enum class MemoryType : unsigned { normal = 0, device = 1, uncached = 2 };
inline constexpr std::uint64_t mair_bits = 0xff /* write-back, read and write allocate */ |
                                           0x04 << 8 /* nGnRE */ |
                                           0x44 << 16 /* Normal, not cacheable */;

struct Mapping {
    MemoryType type = MemoryType::normal;
    bool writable = false;
    bool executable = false;
    bool guarded = false;  // GP: indirect branches must land on BTI; RES0 without FEAT_BTI
};

constexpr unsigned level_shift(unsigned level) { return page_shift + 9 * (last_level - level); }
constexpr std::uint64_t level_bytes(unsigned level) {
    return std::uint64_t{1} << level_shift(level);
}
constexpr unsigned table_index(std::uint64_t address, unsigned level) {
    return static_cast<unsigned>(address >> level_shift(level)) % table_entries;
}

// A block (levels 1, 2) or a page (level 3).
constexpr std::uint64_t leaf_descriptor(std::uint64_t physical, unsigned level, Mapping mapping) {
    constexpr std::uint64_t one = 1;
    constexpr std::uint64_t accessed = one << 10;
    constexpr std::uint64_t inner_shareable = std::uint64_t{3} << 8;
    constexpr std::uint64_t read_only = one << 7;
    constexpr std::uint64_t never_at_el1 = one << 53;
    constexpr std::uint64_t never_at_el0 = one << 54;
    std::uint64_t descriptor = physical | (level == last_level ? 3 : 1) | accessed |
                               inner_shareable | never_at_el0 |
                               std::uint64_t(static_cast<unsigned>(mapping.type)) << 2;
    if (!mapping.writable) descriptor |= read_only;
    if (!mapping.executable) descriptor |= never_at_el1;
    if (mapping.guarded) descriptor |= one << 50;
    return descriptor;
}
constexpr std::uint64_t table_descriptor(std::uint64_t physical) { return physical | 3; }
constexpr bool is_table(std::uint64_t descriptor, unsigned level) {
    return level < last_level && (descriptor & 3) == 3;
}
constexpr std::uint64_t next_table(std::uint64_t descriptor) {
    return descriptor & 0x0000'ffff'ffff'f000;
}

static_assert(level_bytes(1) == 1 << 30 && level_bytes(2) == 2 << 20 && level_bytes(3) == 4096);
static_assert(table_index(0x40'0000'0000, 1) == 256 && table_index(0x4020'1000, 3) == 1);
static_assert(leaf_descriptor(0x4020'0000, 3, {.executable = true, .guarded = true}) ==
              0x0044'0000'4020'0783);
static_assert(leaf_descriptor(0x4060'0000, 2, {.writable = true}) == 0x0060'0000'4060'0701);
static_assert(leaf_descriptor(0x0900'0000, 3, {.type = MemoryType::device, .writable = true}) ==
              0x0060'0000'0900'0707);

}  // namespace nopscope::hal
