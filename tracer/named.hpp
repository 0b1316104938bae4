// SPDX-License-Identifier: Apache-2.0
// Sites by name: a pattern against the name table (wire/names.hpp).
#pragma once

#include "tracer/selection.hpp"
#include "tracer/wire/names.hpp"

namespace nopscope {

// `*` stands for any bytes, `?` for any one; the whole name must match. Work is bounded by the product
// of both lengths: what fails behind a star tries again one byte on, and only the last star counts.
constexpr bool glob_matches(const char* pattern, const char* name, std::size_t size) {
    const char* star = nullptr;
    std::size_t behind_star = 0;
    for (std::size_t at = 0; at < size;) {
        if (*pattern == '*') {
            star = ++pattern;
            behind_star = at;
        } else if (*pattern != 0 && (*pattern == '?' || *pattern == name[at])) {
            ++pattern;
            ++at;
        } else if (star != nullptr) {
            pattern = star;
            at = ++behind_star;
        } else {
            return false;
        }
    }
    while (*pattern == '*') ++pattern;
    return *pattern == 0;
}

// The sites a request is about (selection.hpp), by name where it says so: then of the whole table.
class NamedSelection {
public:
    NamedSelection(const SiteTable& sites, const wire::NameTable& names, const Sites& which,
                   std::span<const void* const> except)
        : NamedSelection({sites, which.pattern != nullptr ? Sites::all() : which, except}, sites, names,
                         which.pattern, true) {}
    // The sites that are not in `which`.
    static NamedSelection others(const SiteTable& sites, const wire::NameTable& names,
                                 const Sites& which) {
        if (which.pattern == nullptr) {
            return {Selection::others(sites, which), sites, names, nullptr, true};
        }
        return {{sites, Sites::all(), {}}, sites, names, which.pattern, false};
    }

    // ok: for_each_run may be called.
    Status status() {
        if (!selection_.known()) return Status::unknown_function;
        if (pattern_ == nullptr) return Status::ok;
        if (names_.size() == 0) return Status::no_names;
        bool any = !matching_;
        if (!any) for_each_run([&](std::uint32_t, std::uint32_t) { return !(any = true); });
        return any ? Status::ok : Status::unknown_function;
    }
    // visit(first, last) for each run, until it returns false.
    template <typename Visit>
    void for_each_run(Visit visit) {
        if (pattern_ == nullptr) return selection_.for_each_run(visit);
        selection_.for_each_run([&](std::uint32_t first, std::uint32_t last) {
            for (std::uint32_t i = first; i < last; ++i) {
                if (!chosen(i)) continue;
                const std::uint32_t begin = i;
                while (i < last && chosen(i)) ++i;
                if (!visit(begin, i)) return false;
            }
            return true;
        });
    }

private:
    NamedSelection(const Selection& selection, const SiteTable& sites, const wire::NameTable& names,
                   const char* pattern, bool matching)
        : selection_(selection), sites_(sites), names_(names), cursor_(names), pattern_(pattern),
          matching_(matching) {}

    bool chosen(std::uint32_t index) {
        const bool matches =
            sites_.usable(index) && cursor_.seek(index) &&
            glob_matches(pattern_, cursor_.data(), cursor_.size());
        return matches == matching_;
    }

    const Selection selection_;
    const SiteTable& sites_;
    const wire::NameTable& names_;
    wire::NameCursor cursor_;
    const char* pattern_;
    const bool matching_;  // what has such a name, or what has not
};

}  // namespace nopscope
