// SPDX-License-Identifier: Apache-2.0
// The part of a recording that a command shows: times, a core, tasks, what one function called.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host-tools/base/error.hpp"

namespace nopscope::host {

// One end of a range of times: a time since the recording's first record, a time before its end, or
// a marker of the firmware.
struct TimePoint {
    enum class From : std::uint8_t { begin, end, marker };
    From from = From::begin;
    std::uint64_t ns = 0;      // after the begin, or before the end
    std::uint32_t marker = 0;  // its id
};

// From `from` up to but not including `to`. Nothing: the recording's own begin or end.
struct TimeRange {
    std::optional<TimePoint> from;
    std::optional<TimePoint> to;

    bool whole() const { return !from && !to; }
    // True if its ends are known only after the recording has been read once.
    bool needs_bounds() const;
};

// "10ms..20ms", "..1.5s", "-5ms..", "@1..@2". Fails (Exit::usage) with what is wrong.
Result<TimeRange> read_time_range(const std::string& text);
// "10ms": the range of the 100 us on each side. "10ms,2ms": of 2 ms on each side. Fails likewise.
Result<TimeRange> read_time_around(const std::string& text);
// Nanoseconds of "1.5ms". Units: ns, us, ms, s. Nothing: it is no time.
std::optional<std::uint64_t> read_time(std::string_view text);

struct Part {
    TimeRange time;
    std::optional<unsigned> core;
    std::string task;   // a glob of tasks' names, or contexts' numbers; empty: all
    std::string under;  // a glob of functions: these calls and the calls inside; empty: all calls

    bool whole() const { return time.whole() && !core && task.empty() && under.empty(); }
};
// "10ms..20ms of core 1, under luaV_execute"; empty: the whole recording.
std::string part_text(const Part& part);

}  // namespace nopscope::host
