// SPDX-License-Identifier: Apache-2.0
// What happened between two views, per second of this host's clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "host-tools/live/live.hpp"

namespace nopscope::host {

struct CoreRates {
    unsigned number = 0;
    double records = 0;  // per second
    // Busy share of the target's time, 0..1 (CoreStatus::busy_ticks). Nothing: no event came.
    std::optional<double> busy;
};

struct Rates {
    double seconds = 0;
    double bytes = 0;  // of the line, per second
    // Share of the line's capacity in the hello. Nothing: the hello names no capacity.
    std::optional<double> line_share;
    double records = 0;  // of all cores, per second
    double dropped = 0;  // calls and records, per second
    std::vector<CoreRates> cores;
    std::unordered_map<std::uint64_t, double> calls;  // per second, by key_of(); no entry: no calls
    // Share of all functions' self time, 0..1, by key_of(), as recorded. No entry: no self time.
    std::unordered_map<std::uint64_t, double> self;
    // Share of the time of all cores, 0..1, by the name of a task (task_table()). No entry: none.
    std::unordered_map<std::string, double> tasks;
};

// All rates are 0 if no time lies between the views. If the figures of the later view began after
// the earlier one, the rates are since then.
Rates rates_between(const LiveView& earlier, const LiveView& later);

// Sums for a function in the trace and the target's profile, each call counted once; by key_of().
struct FunctionSum {
    std::uint64_t calls = 0;
    std::uint64_t self_ns = 0;
};
std::unordered_map<std::uint64_t, FunctionSum> sums_by_key(const Report& report);

}  // namespace nopscope::host
