// SPDX-License-Identifier: Apache-2.0
// A call, while it is open and when it is over.
#pragma once

#include <cstdint>

#include "tracer/protocol/record.hpp"

namespace nopscope::host {

// Modulo 2^64, as outside bytes may hold any clock; differences are read as signed.
using Ticks = std::uint64_t;
constexpr Ticks not_negative(Ticks difference) {
    return static_cast<std::int64_t>(difference) > 0 ? difference : 0;
}

enum class Outcome : std::uint8_t {
    returned,
    unwound,  // left by longjmp or an exception
    lost,     // its end is in a gap
    open,     // the session ended first
};

// Where a call is: its function's number and its path's node.
struct Path {
    std::uint32_t function = 0;
    std::uint32_t node = 0;
};
struct Begun {
    Path path;
    std::uint64_t total_before = 0;  // of the function
    std::uint64_t taken_before = 0;  // by recording, in 1/256 ticks: see call_costs.hpp
};

// Of the return that ends a call, all but the clock, where it is plain.
constexpr std::uint32_t plain_return(std::uint64_t index) {
    const auto payload = (static_cast<std::uint32_t>(index) & protocol::entry_index_mask) << 1;
    return protocol::make_record(protocol::Kind::ret, payload, 0).high();
}

struct OpenCall {
    // Of `plain_end`: of no record, as bit 2 is zero there, whatever a line or file held.
    static constexpr std::uint32_t gap_marker = ~0u;
    static constexpr std::uint32_t not_plain = 1u << 2;

    std::uint64_t index = 0;         // record index of the entry
    Ticks begin = 0;                 // without the tracer's
    Ticks child = 0;                 // spent in calls that have closed
    std::uint64_t total_before = 0;  // the function's total when the call began: see close()
    std::uint64_t taken_before = 0;  // likewise, what recording had taken: see call_costs.hpp
    Path path;
    std::uint32_t gaps_before = 0;  // gaps this core had when the call began
    std::uint32_t plain_end = 0;    // the return that ends it, all but the clock

    bool is_gap() const { return plain_end == gap_marker; }  // no call
};

// What became of a call, in ticks without the tracer's, never negative.
struct ClosedCall {
    Outcome outcome{};
    bool incomplete = false;  // a gap lies between its entry and its end
    Ticks ticks = 0;
    Ticks self_ticks = 0;
};

// What a marker that has been popped leaves for the calls below it.
struct Carry {
    bool active = false;
    Ticks cut = 0;    // when its gap began: calls that were lost are charged up to here
    Ticks after = 0;  // the gap's length, and the calls since
};

struct DecoderCounters {
    std::uint64_t orphan_returns = 0;  // their entry is not open: lost, or of no call seen
    std::uint64_t too_deep = 0;        // entries counted as calls without time
    std::uint64_t unknown_records = 0;
};

}  // namespace nopscope::host
