// SPDX-License-Identifier: Apache-2.0
// The table of patch sites: function addresses, ascending, without empty or repeated entries. A
// site's index in it is the only name it has on the line. A refused site keeps its index.
//
// The compiler leaves one pointer a function in __patchable_function_entries, to the first of the
// two NOPs before it; prepare() turns that section, in place, into the table.
#pragma once

#include "hal/machine.hpp"
#include "tracer/arm64/patch_site.hpp"
#include "tracer/wire/crc32c.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace nopscope {

class SiteTable {
public:
    SiteTable() = default;

    // Sorts and compacts `entries`. They come almost sorted (the linker keeps the order of the
    // text), so insertion sort is the short and the fast way. Returns how many were left out.
    std::uint32_t prepare(std::span<std::uint64_t> entries) {
        for (std::size_t i = 1; i < entries.size(); ++i) {
            const std::uint64_t entry = entries[i];
            std::size_t at = i;
            for (; at > 0 && entries[at - 1] > entry; --at) entries[at] = entries[at - 1];
            entries[at] = entry;
        }
        std::size_t kept = 0;
        for (const std::uint64_t entry : entries) {
            if (entry == 0) continue;
            const std::uint64_t function = entry + slot_bytes;
            if (kept == 0 || entries[kept - 1] != function) entries[kept++] = function;
        }
        sites_ = entries.first(kept);
        return static_cast<std::uint32_t>(entries.size() - kept);
    }

    std::uint32_t size() const { return static_cast<std::uint32_t>(sites_.size()); }
    Address function(std::uint32_t index) const { return sites_[index] & ~refused_bit; }
    bool usable(std::uint32_t index) const { return (sites_[index] & refused_bit) == 0; }
    void refuse(std::uint32_t index) { sites_[index] |= refused_bit; }

    // The index of a usable site.
    std::optional<std::uint32_t> find(Address function) const {
        std::uint32_t low = 0;
        for (std::uint32_t high = size(); low < high;) {
            const std::uint32_t middle = low + (high - low) / 2;
            if (this->function(middle) < function) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        if (low == size() || sites_[low] != function) return std::nullopt;
        return low;
    }

    // Over the link-time addresses, as u64 little-endian: what the host computes from the ELF.
    std::uint32_t crc(std::uint64_t load_bias) const {
        std::uint32_t crc = 0;
        for (std::uint32_t i = 0; i < size(); ++i) {
            const Address link_time = function(i) - load_bias;
            std::uint8_t bytes[8];
            for (unsigned b = 0; b < 8; ++b) bytes[b] = static_cast<std::uint8_t>(link_time >> (8 * b));
            crc = wire::crc32c(bytes, sizeof bytes, crc);
        }
        return crc;
    }

private:
    // Instructions are 4-byte aligned, so the low bit is ours.
    static constexpr std::uint64_t refused_bit = 1;
    std::span<std::uint64_t> sites_;
};

}  // namespace nopscope
