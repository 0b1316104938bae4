// SPDX-License-Identifier: Apache-2.0
// Questions about a function of a recording: its callers, its callees, its durations, and the
// deepest stack. All times, also those of single calls, are corrected unless the report is raw.
#pragma once

#include <string>
#include <vector>

#include "host-tools/figures/profile/profile.hpp"
#include "host-tools/figures/report/report.hpp"

namespace nopscope::host {

// A caller or callee of a function.
struct Neighbour {
    std::uint32_t function = 0;                      // number in Report::by_number; or one of these
    static constexpr std::uint32_t outermost = ~0u;  // no recorded call was open
    static constexpr std::uint32_t unknown = ~0u - 1;  // the callers were lost in a gap
    std::uint64_t calls = 0;
    std::uint64_t total_ns = 0;  // sum over these calls, also over calls inside each other
};

// The numbers of functions with calls whose names match the name or glob. If there is none, it
// fails (Exit::usage) with similar names.
Result<std::vector<std::uint32_t>> functions_named(const Report& report, const std::string& glob);

// By function number: each function's neighbours, the largest total_ns first.
using Neighbours = std::vector<std::vector<Neighbour>>;
Neighbours callers_by_function(const Report& report, const Profile& profile);
Neighbours callees_by_function(const Report& report, const Profile& profile);
std::string neighbour_name(const Report& report, const Neighbour& of);

struct Latency : CallTimes {
    struct Bin {
        std::uint64_t from_ns = 0;
        std::uint64_t calls = 0;
    };
    std::uint64_t timed = 0;  // the function's calls that were recorded from begin to end
    std::vector<Bin> bins;  // from the first to the last that is not empty; the last ends at max_ns

    // An upper bound of the duration of the shortest `part` / 1000 of the calls: the end of a bin.
    std::uint64_t per_mille_ns(unsigned part) const;
};
// Needs Profile::count_durations().
Latency latency_of(const Report& report, const Profile& profile, std::uint32_t function);

// The calls of a row of the target's profile by duration, as Latency's. Each bin is twice as long
// as the one before.
std::vector<Latency::Bin> bins_of(const ProfileRow& row, bool raw, std::uint64_t clock_hz);

struct StackDepth {
    std::vector<std::uint32_t> path;  // function numbers, the outermost first
    std::uint64_t calls = 0;          // calls of this depth
    std::uint64_t unknown = 0;        // calls of unknown depth: after a gap, or in "(others)"
};
StackDepth deepest(const Profile& profile);

}  // namespace nopscope::host
