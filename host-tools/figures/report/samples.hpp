// SPDX-License-Identifier: Apache-2.0
// Samples by function and by call path.
#pragma once

#include <cstdint>
#include <vector>

#include "host-tools/figures/profile/profile.hpp"
#include "host-tools/figures/report/functions.hpp"

namespace nopscope::host {

// Numbers of samples.
struct SampleRow : FunctionPlace {
    std::uint64_t self = 0;   // in which the function ran
    std::uint64_t total = 0;  // in which a call of it was open
    double share = 0;         // self / all samples, 0..1
};
struct SampleNode {
    std::uint32_t parent = 0;    // number of a node; node 0 has no function
    std::uint32_t function = 0;  // number in SampleReport::places
    std::uint64_t self = 0;
    std::uint64_t total = 0;
};
struct SampleReport {
    std::uint64_t count = 0;
    std::uint64_t cut = 0;             // samples of which the target left outer callers out
    std::vector<SampleRow> functions;  // unsorted
    std::vector<FunctionPlace> places;
    std::vector<SampleNode> nodes;  // parents first
};

void add_samples(Report& report, const Profile& profile, const Places& places);

// By `total`, or else by self, as the rows of functions.
void sort_rows(std::vector<SampleRow>& rows, SortKey key, std::size_t top);

}  // namespace nopscope::host
