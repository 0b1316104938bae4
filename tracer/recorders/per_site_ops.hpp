// SPDX-License-Identifier: Apache-2.0
// Who a request is about: one ops for all sites, or a family, which has an ops for each site.
#pragma once

#include "nopscope/ops.hpp"

#include <array>
#include <span>

namespace nopscope {

inline constexpr std::size_t max_attached = 256;

// The members of a family lie in an array by the sites' indexes, and differ in nothing but their
// data: func, direct and flags are the same. The first one's `sites` counts for all.
//
// A direct entry that finds its data through the slot may find any object there during a change, also
// one that has none for it, and must be waited for as the far trampoline is, for a list may be freed.
struct PerSiteOps {
    Ops* first = nullptr;      // null: nobody
    std::uint32_t stride = 0;  // bytes; 0: one ops for all sites
    std::uint32_t count = 1;   // members; as many as there are sites, if there is a stride

    static constexpr PerSiteOps of(Ops& ops) { return {.first = &ops}; }
    // Member: Ops or derived from it alone.
    template <typename Member>
    static constexpr PerSiteOps each(Member* members, std::uint32_t count) {
        return {members, sizeof(Member), count};
    }

    Ops* at(std::uint32_t index) const {
        return reinterpret_cast<Ops*>(reinterpret_cast<std::uintptr_t>(first) +
                                      std::uint64_t{index} * stride);
    }
};

// A request adds one ops at the end of each site's set and removes others. An ops named in both lists stays attached.
struct Change {
    PerSiteOps add{};
    std::span<const PerSiteOps> remove{};
};
inline constexpr std::size_t max_removed = 8;

// Those who trace some site, so that a slot may hold their address.
class Attached {
public:
    // False: there are too many.
    bool add(const PerSiteOps& family) {
        for (std::uint32_t i = 0; i < count_; ++i) {
            if (all_[i].first == family.first) return true;
        }
        if (count_ == all_.size()) return false;
        all_[count_++] = family;
        return true;
    }
    void forget(const Ops* first) {
        for (std::uint32_t i = 0; i < count_; ++i) {
            if (all_[i].first == first) {
                all_[i] = all_[--count_];
                return;
            }
        }
    }
    // Who has `ops` at this site, or null.
    const PerSiteOps* owner(const Ops* ops, std::uint32_t index) const {
        for (std::uint32_t i = 0; i < count_; ++i) {
            if (all_[i].at(index) == ops) return &all_[i];
        }
        return nullptr;
    }

private:
    std::array<PerSiteOps, max_attached> all_{};
    std::uint32_t count_ = 0;
};

}  // namespace nopscope
