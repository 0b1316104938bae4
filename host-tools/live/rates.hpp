// SPDX-License-Identifier: Apache-2.0
// What happened between two views, per second of this host's clock.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "host-tools/live/live.hpp"

namespace nopscope::host {

struct CoreRates {
    unsigned number = 0;
    double records = 0;          // a second
    std::optional<double> busy;  // CoreStatus::busy_ticks of the target's time in between, 0..1; nothing: no
                                 // event came in between
};

struct Rates {
    double seconds = 0;
    double bytes = 0;    // of the line, a second
    std::optional<double> line_share;  // of what the hello says the line carries; nothing: it says nothing
    double records = 0;  // a second, all cores
    double dropped = 0;  // calls and records, a second
    std::vector<CoreRates> cores;
    std::unordered_map<std::uint64_t, double> calls;  // a second, by key_of(); those with any
    // Of all functions' self time in between, 0..1, as recorded; likewise.
    std::unordered_map<std::uint64_t, double> self;
};

// Zero where there is no time in between.
Rates rates_between(const LiveView& earlier, const LiveView& later);

// What each function has in the trace and in the target's profile, counted once, by key_of().
struct FunctionSum {
    std::uint64_t calls = 0;
    std::uint64_t self_ns = 0;
};
std::unordered_map<std::uint64_t, FunctionSum> sums_by_key(const Report& report);

}  // namespace nopscope::host
