// SPDX-License-Identifier: Apache-2.0
// What a report shows besides times: captured registers, counters, marks.
#pragma once

#include <cstdint>
#include <string>

#include "host-tools/calls/places.hpp"
#include "host-tools/figures/profile/profile.hpp"

namespace nopscope::host {

struct Report;

// The values of a register at a function's entries, or of its results.
struct CapturedRow : FunctionPlace {
    std::string what;  // "x0" to "x7", "result"
    ValueSeries series;
};

struct MarkRow {
    std::uint64_t time_ns = 0;  // since the session's first event
    std::uint32_t id = 0;
    unsigned core = 0;
    std::uint32_t context = 0;
    std::uint64_t session = 0;
    std::string function;  // the innermost one; empty: none
};

void add_captured(Report& report, const Profile& profile);  // and the counters
void add_marks(Report& report, const Profile& profile);

}  // namespace nopscope::host
