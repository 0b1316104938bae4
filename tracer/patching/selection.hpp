// SPDX-License-Identifier: Apache-2.0
// Selection: the sites of a request, as runs of indexes into the site table. Each function of a
// list is a run of one. An exception splits a range into two runs. So the cost of visiting a run
// grows only with its number of sites.
#pragma once

#include "nopscope/nopscope.hpp"
#include "tracer/core/site_table.hpp"

#include <cstdint>

namespace nopscope {

class Selection {
public:
    Selection(const SiteTable& sites, const Sites& which, std::span<const void* const> except)
        : sites_(sites), except_(except) {
        if (which.listed) {
            listed_ = which.functions;
        } else {
            const std::uint32_t first = which.first < sites.size() ? which.first : sites.size();
            const std::uint32_t left = sites.size() - first;
            ranges_[0] = {first, first + (which.count < left ? which.count : left)};
        }
    }
    // The sites that are not in `which`.
    static Selection others(const SiteTable& sites, const Sites& which) {
        if (which.listed) return {sites, Sites::all(), which.functions};
        Selection all(sites, which, {});
        const Range in = all.ranges_[0];
        all.ranges_[0] = {0, in.first};
        all.ranges_[1] = {in.last, sites.size()};
        return all;
    }

    // Whether every named function is a site of the table.
    bool known() const { return all_known(except_) && all_known(listed_); }

    // Calls visit(first, last) for each run [first, last) until it returns false. Runs include
    // refused sites. Needs known().
    template <typename Visit>
    void for_each_run(Visit visit) const {
        for (const void* function : listed_) {
            const std::uint32_t index = index_of(function);
            if (next_excepted(index, index + 1) == index) continue;
            if (!visit(index, index + 1)) return;
        }
        for (const Range& range : ranges_) {
            for (std::uint32_t first = range.first; first < range.last;) {
                const std::uint32_t last = next_excepted(first, range.last);
                if (first != last && !visit(first, last)) return;
                first = last + 1;
            }
        }
    }

private:
    struct Range {
        std::uint32_t first = 0;
        std::uint32_t last = 0;  // exclusive
    };

    std::uint32_t index_of(const void* function) const {
        return *sites_.find(reinterpret_cast<std::uintptr_t>(function));
    }
    bool all_known(std::span<const void* const> functions) const {
        for (const void* function : functions) {
            if (!sites_.find(reinterpret_cast<std::uintptr_t>(function))) return false;
        }
        return true;
    }
    // The first excepted index in [first, last), or `last` if there is none.
    std::uint32_t next_excepted(std::uint32_t first, std::uint32_t last) const {
        for (const void* function : except_) {
            const std::uint32_t index = index_of(function);
            if (index >= first && index < last) last = index;
        }
        return last;
    }

    const SiteTable& sites_;
    std::span<const void* const> listed_{};
    Range ranges_[2]{};
    std::span<const void* const> except_;
};

}  // namespace nopscope
