// SPDX-License-Identifier: Apache-2.0
// The ops of a request: one ops for all sites, or a family, which has an ops for each site.
#pragma once

#include "nopscope/ops.hpp"

#include <array>
#include <span>

namespace nopscope {

inline constexpr std::size_t max_attached = 256;

// The members of a family lie in an array, indexed by site. They have the same func, direct and
// flags, and differ only in their data. The first one's `sites` counts for all.
//
// During a change, a direct entry that reads its data through the slot may find any object there,
// also one without data for it. A change waits for these entries: it may free a list.
struct PerSiteOps {
    Ops* first = nullptr;      // null: no ops
    std::uint32_t stride = 0;  // bytes; 0: one ops for all sites
    std::uint32_t count = 1;   // members; if there is a stride, one for each site

    static constexpr PerSiteOps of(Ops& ops) { return {.first = &ops}; }
    // Member: Ops, or a class whose only base is Ops.
    template <typename Member>
    static constexpr PerSiteOps each(Member* members, std::uint32_t count) {
        return {members, sizeof(Member), count};
    }

    Ops* at(std::uint32_t index) const {
        return reinterpret_cast<Ops*>(reinterpret_cast<std::uintptr_t>(first) +
                                      std::uint64_t{index} * stride);
    }
};

// A request adds one ops at the end of each site's set and removes others. An ops named in both
// lists stays attached.
struct Change {
    PerSiteOps add{};
    std::span<const PerSiteOps> remove{};
};
inline constexpr std::size_t max_removed = 8;

// All ops that are on some site: a slot may hold their address.
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
    // Returns the family whose member at this site is `ops`, or null.
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
