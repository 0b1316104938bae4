// SPDX-License-Identifier: Apache-2.0
// Selects sites by name: compares a pattern with the name table (protocol/names.hpp).
#pragma once

#include "tracer/patching/selection.hpp"
#include "tracer/patching/site_bits.hpp"
#include "tracer/protocol/names.hpp"

namespace nopscope {

// The pattern must match the whole name. `*` stands for any number of bytes, `?` for one byte.
// After a mismatch behind a star the search goes on one byte later, and only the last star counts.
// So the work is at most the product of both lengths.
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

// The sites of a request. A plain request is a Selection. A request with a pattern, `notrace` or
// bits goes through the whole table, and takes the sites that it names and its `notrace` does not.
class SiteNameFilter {
public:
    SiteNameFilter(const SiteTable& sites, const protocol::NameTable& names, const Sites& which,
                   std::span<const void* const> except)
        : SiteNameFilter({sites, is_plain(which) ? which : Sites::all(), except}, sites, names,
                         which, true) {}
    // The sites that are not in `which`.
    static SiteNameFilter others(const SiteTable& sites, const protocol::NameTable& names,
                                 const Sites& which) {
        if (is_plain(which)) return {Selection::others(sites, which), sites, names, which, true};
        return {{sites, Sites::all(), {}}, sites, names, which, false};
    }

    // ok: the caller may call for_each_run().
    Status status() {
        if (!selection_.known()) return Status::unknown_function;
        for (Part* part : {&which_, &notrace_}) {
            const Status status = status_of(*part);
            if (status != Status::ok) return status;
        }
        return Status::ok;
    }
    // Calls visit(first, last) for each run, until it returns false.
    template <typename Visit>
    void for_each_run(Visit visit) {
        if (plain_) return selection_.for_each_run(visit);
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
    struct Part {
        const Sites& sites;
        protocol::NameCursor cursor;
    };
    static constexpr Sites nothing = Sites::range(0, 0);

    static bool is_plain(const Sites& which) {
        return which.pattern == nullptr && which.notrace == nullptr && which.bits == nullptr;
    }
    SiteNameFilter(const Selection& selection, const SiteTable& sites,
                   const protocol::NameTable& names, const Sites& which, bool matching)
        : selection_(selection),
          sites_(sites),
          names_(names),
          which_{which, protocol::NameCursor(names)},
          notrace_{which.notrace != nullptr ? *which.notrace : nothing,
                   protocol::NameCursor(names)},
          plain_(is_plain(which)),
          matching_(matching) {}

    bool chosen(std::uint32_t index) {
        return (sites_.usable(index) && has(which_, index) && !has(notrace_, index)) == matching_;
    }
    bool has(Part& part, std::uint32_t index) const {
        if (part.sites.bits != nullptr && !part.sites.bits->has(index)) return false;
        if (part.sites.pattern != nullptr) {
            protocol::NameCursor& name = part.cursor;
            for (bool has_name = name.seek(index); has_name; has_name = name.seek_alias()) {
                if (glob_matches(part.sites.pattern, name.data(), name.size())) return true;
            }
            return false;
        }
        if (!part.sites.listed) {
            return index >= part.sites.first && index - part.sites.first < part.sites.count;
        }
        for (const void* function : part.sites.functions) {
            if (sites_.function(index) == reinterpret_cast<std::uintptr_t>(function)) return true;
        }
        return false;
    }
    Status status_of(Part& part) const {
        if (part.sites.listed && !Selection(sites_, part.sites, {}).known()) {
            return Status::unknown_function;
        }
        if (part.sites.pattern == nullptr) return Status::ok;
        if (names_.size() == 0) return Status::no_names;
        for (std::uint32_t i = 0; i < sites_.size(); ++i) {
            if (sites_.usable(i) && has(part, i)) return Status::ok;
        }
        return Status::unknown_function;
    }

    const Selection selection_;
    const SiteTable& sites_;
    const protocol::NameTable& names_;
    Part which_, notrace_;
    const bool plain_;
    const bool matching_;  // true: the sites of the request; false: all others
};

}  // namespace nopscope
