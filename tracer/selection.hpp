// SPDX-License-Identifier: Apache-2.0
// Selection: the sites a request is about, as indexes into the site table.
#pragma once

#include "tracer/nopscope.hpp"
#include "tracer/site_table.hpp"

#include <cstdint>

namespace nopscope {

class Selection {
public:
    Selection(const SiteTable& sites, const Sites& which, std::span<const void* const> except)
        : sites_(sites), which_(which), except_(except) {}

    // Every function named is a usable site.
    bool known() const { return all_known(except_) && (!which_.listed || all_known(which_.functions)); }

    // visit(index) for each usable site, until it returns false. Needs known().
    template <typename Visit>
    void for_each(Visit visit) const {
        if (which_.listed) {
            for (const void* function : which_.functions) {
                if (!excepted(function) && !visit(*sites_.find(address(function)))) return;
            }
            return;
        }
        const std::uint32_t size = sites_.size();
        const std::uint32_t first = which_.first < size ? which_.first : size;
        const std::uint32_t count = which_.count < size - first ? which_.count : size - first;
        for (std::uint32_t i = first; i < first + count; ++i) {
            if (!sites_.usable(i)) continue;
            if (excepted(reinterpret_cast<const void*>(sites_.function(i)))) continue;
            if (!visit(i)) return;
        }
    }

    // Needs known().
    bool contains(std::uint32_t index) const {
        const auto* function = reinterpret_cast<const void*>(sites_.function(index));
        if (excepted(function)) return false;
        if (!which_.listed) return index >= which_.first && index - which_.first < which_.count;
        for (const void* one : which_.functions) {
            if (one == function) return true;
        }
        return false;
    }

private:
    static Address address(const void* function) {
        return reinterpret_cast<std::uintptr_t>(function);
    }
    bool all_known(std::span<const void* const> functions) const {
        for (const void* function : functions) {
            if (!sites_.find(address(function))) return false;
        }
        return true;
    }
    bool excepted(const void* function) const {
        for (const void* one : except_) {
            if (one == function) return true;
        }
        return false;
    }

    const SiteTable& sites_;
    const Sites& which_;
    std::span<const void* const> except_;
};

}  // namespace nopscope
