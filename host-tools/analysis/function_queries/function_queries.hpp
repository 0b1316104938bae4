// SPDX-License-Identifier: Apache-2.0
// What people ask of a recording: who calls a function, what it calls, how long it takes, how deep it gets.
// Times are corrected unless the report is raw, those of single calls, too.
#pragma once

#include <string>
#include <vector>

#include "host-tools/analysis/profile/profile.hpp"
#include "host-tools/analysis/report/report.hpp"

namespace nopscope::host {

// A function at the other end of calls.
struct Neighbour {
    std::uint32_t function = 0;  // Report::by_number; or one of these
    static constexpr std::uint32_t outermost = ~0u;  // no call that was recorded was open
    static constexpr std::uint32_t unknown = ~0u - 1;  // a gap lies in between
    std::uint64_t calls = 0;
    std::uint64_t total_ns = 0;  // of these calls, those inside each other counted each
};

// Numbers of the functions that a name, or a glob of names, means: of those with calls. Throws Error, Exit::usage,
// with names that are like it, when there is none.
std::vector<std::uint32_t> functions_named(const Report& report, const std::string& glob);

// Of each function, by its number: the longest first.
using Neighbours = std::vector<std::vector<Neighbour>>;
Neighbours callers_by_function(const Report& report, const Profile& profile);
Neighbours callees_by_function(const Report& report, const Profile& profile);
std::string neighbour_name(const Report& report, const Neighbour& of);

struct Latency {
    struct Bin {
        std::uint64_t from_ns = 0;
        std::uint64_t calls = 0;
    };
    std::uint64_t timed = 0;  // of the function's calls: those that were seen from begin to end
    std::uint64_t min_ns = 0;
    std::uint64_t mean_ns = 0;
    std::uint64_t max_ns = 0;
    std::vector<Bin> bins;  // from the first to the last that is not empty; the last ends at max_ns

    // The upper end of the bin that so many of 1000 calls end in or before.
    std::uint64_t per_mille_ns(unsigned part) const;
};
// With Profile::count_durations().
Latency latency_of(const Report& report, const Profile& profile, std::uint32_t function);

struct StackDepth {
    std::vector<std::uint32_t> path;  // function numbers, the outermost first
    std::uint64_t calls = 0;          // that were as deep
    std::uint64_t unknown = 0;        // calls whose depth is not known: a gap lies before them
};
StackDepth deepest(const Profile& profile);

}  // namespace nopscope::host
