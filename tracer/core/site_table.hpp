// SPDX-License-Identifier: Apache-2.0
// The table of patch sites, ascending, without empty or repeated entries. Commands name a site by
// its index in the table. A refused site keeps its index.
//
// For each function, the compiler puts a pointer to the first of the two NOPs before it into the
// section __patchable_function_entries. prepare() turns that section into the table, in place.
#pragma once

#include "tracer/arch/crc.hpp"
#include "tracer/arch/machine.hpp"
#include "tracer/arch/patch_site.hpp"
#include "tracer/protocol/crc32c.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace nopscope {

class SiteTable {
public:
    SiteTable() = default;

    // Sorts `entries` and drops empty and repeated ones. Returns how many were dropped.
    std::uint32_t prepare(std::span<std::uint64_t> entries) {
        sites_ = ascending(entries) ? entries : entries.first(sort(entries));
        return static_cast<std::uint32_t>(entries.size() - sites_.size());
    }

    std::uint32_t size() const { return static_cast<std::uint32_t>(sites_.size()); }
    SiteEntry operator[](std::uint64_t index) const { return SiteEntry(sites_[index]); }
    void set(std::uint64_t index, SiteEntry site) { sites_[index] = site.raw(); }
    Address function(std::uint32_t index) const { return (*this)[index].function(); }
    bool usable(std::uint32_t index) const { return (*this)[index].usable(); }

    // The index of a usable site.
    std::optional<std::uint32_t> find(Address function) const {
        const Address slot = function - slot_bytes;
        std::uint32_t low = 0;
        for (std::uint32_t high = size(); low < high;) {
            const std::uint32_t middle = low + (high - low) / 2;
            if (sites_[middle] < slot) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        if (low == size() || !usable(low) || (*this)[low].slot() != slot) return std::nullopt;
        return low;
    }

    // True if a usable site's address has these low 32 bits, and the upper bits of `text`.
    bool has_low(Address text, std::uint32_t low) const {
        return find((text & ~Address{0xffff'ffff}) | low).has_value();
    }

    // CRC-32C of the link-time addresses, u64 little-endian. The host has it from the ELF file.
    std::uint32_t crc(std::uint64_t load_bias) const {
        if (arch::has_crc_instruction()) {
            std::uint32_t crc = ~std::uint32_t{0};
            for (std::uint32_t i = 0; i < size(); ++i)
                crc = arch::crc32c_step(crc, function(i) - load_bias);
            return ~crc;
        }
        std::uint32_t crc = 0;
        for (std::uint32_t i = 0; i < size(); ++i) {
            const Address link_time = function(i) - load_bias;
            std::uint8_t bytes[8];
            for (unsigned b = 0; b < 8; ++b)
                bytes[b] = static_cast<std::uint8_t>(link_time >> (8 * b));
            crc = protocol::crc32c(bytes, sizeof bytes, crc);
        }
        return crc;
    }

private:
    // False also if an entry is empty or repeated.
    static bool ascending(std::span<const std::uint64_t> entries) {
        std::uint64_t last = 0;
        for (const std::uint64_t entry : entries) {
            if (entry <= last) return false;
            last = entry;
        }
        return true;
    }
    // Insertion sort is short, and fast here: the entries are almost sorted, because the linker
    // keeps the order of the text. Returns how many remain.
    static std::size_t sort(std::span<std::uint64_t> entries) {
        for (std::size_t i = 1; i < entries.size(); ++i) {
            const std::uint64_t entry = entries[i];
            std::size_t at = i;
            for (; at > 0 && entries[at - 1] > entry; --at) entries[at] = entries[at - 1];
            entries[at] = entry;
        }
        std::size_t kept = 0;
        for (const std::uint64_t entry : entries) {
            if (entry != 0 && (kept == 0 || entries[kept - 1] != entry)) entries[kept++] = entry;
        }
        return kept;
    }

    std::span<std::uint64_t> sites_;
};

}  // namespace nopscope
