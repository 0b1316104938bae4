// SPDX-License-Identifier: Apache-2.0
// The sites that commands have selected: a bit each, by index.
#pragma once

#include "tracer/protocol/command.hpp"

#ifndef NOPSCOPE_SELECTABLE_SITES
#define NOPSCOPE_SELECTABLE_SITES 65536  // a multiple of 64; higher indexes cannot be selected
#endif

namespace nopscope {

class SiteBits {
public:
    static constexpr std::uint32_t capacity = NOPSCOPE_SELECTABLE_SITES;
    static_assert(capacity % 64 == 0);

    void clear() {
        for (std::uint64_t& word : words_) word = 0;
        count_ = 0;
    }
    // Selects or deselects all sites of the ranges. False: a range is malformed or not within
    // `site_count`, and nothing has changed.
    bool put(protocol::Reader ranges, std::uint32_t site_count, bool selected) {
        const std::uint32_t limit = site_count < capacity ? site_count : capacity;
        protocol::SiteRange range;
        protocol::RangeReader check(ranges, limit);
        while (check.next(range)) {
        }
        if (!check.ok()) return false;
        for (protocol::RangeReader in(ranges, limit); in.next(range);) {
            for (std::uint32_t i = range.first; i < range.first + range.count; ++i)
                set(i, selected);
        }
        return true;
    }
    bool has(std::uint32_t index) const {
        return index < capacity && (words_[index / 64] >> index % 64 & 1) != 0;
    }
    std::uint32_t count() const { return count_; }

private:
    void set(std::uint32_t index, bool selected) {
        if (has(index) == selected) return;
        words_[index / 64] ^= std::uint64_t{1} << index % 64;
        count_ += selected ? 1 : ~std::uint32_t{0};
    }

    std::uint64_t words_[capacity / 64]{};
    std::uint32_t count_ = 0;
};

}  // namespace nopscope
