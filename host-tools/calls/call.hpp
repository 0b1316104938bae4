// SPDX-License-Identifier: Apache-2.0
// A call, while it is open and when it is over.
#pragma once

#include <cstdint>

#include "tracer/protocol/record.hpp"

namespace nopscope::host {

// Modulo 2^64: outside data may hold any clock. Differences are read as signed.
using Ticks = std::uint64_t;
[[gnu::always_inline]] constexpr Ticks not_negative(Ticks difference) {
    return static_cast<std::int64_t>(difference) > 0 ? difference : 0;
}

enum class Outcome : std::uint8_t {
    returned,
    unwound,  // left by longjmp or an exception
    lost,     // its end is in a gap
    open,     // the session ended first
};

// The place of a call in a profile: its function's number and its path's node.
struct Path {
    std::uint32_t function = 0;
    std::uint32_t node = 0;
};
struct Begun {
    Path path;
    std::uint64_t total_before = 0;  // the function's total until then
    std::uint64_t taken_before = 0;  // by recording, in 1/256 ticks: see call_costs.hpp
};

// The upper half of the plain return record that ends the call whose entry has this record index.
[[gnu::always_inline]] constexpr std::uint32_t plain_return(std::uint64_t index) {
    const auto payload = (static_cast<std::uint32_t>(index) & protocol::entry_index_mask) << 1;
    return protocol::make_record(protocol::Kind::ret, payload, 0).high();
}

struct OpenCall {
    // Values of `plain_end` that no record has: bit 2 is zero in every record, even of a bad file.
    static constexpr std::uint32_t gap_marker = ~0u;
    static constexpr std::uint32_t not_plain = 1u << 2;
    // Values of `gaps_before` that no core reaches. The call began before the part that is shown;
    // the part leaves the call out, and `path.function` is its site's offset.
    static constexpr std::uint32_t before_part = ~0u;
    static constexpr std::uint32_t hidden = before_part - 1;

    // In `index`, if the call's context has moved: the number of the entry's core, plus 1.
    static constexpr std::uint64_t first_core_tag = std::uint64_t{1} << 54;

    std::uint64_t index = 0;         // record index of the entry
    Ticks begin = 0;                 // on the clock without the tracer's time
    Ticks child = 0;                 // spent in calls inside that have ended
    Ticks away = 0;                  // its context did not run so long; without that of open calls
    std::uint64_t total_before = 0;  // the function's total when the call began: see close()
    std::uint64_t taken_before = 0;  // likewise, the recording overhead: see call_costs.hpp
    Path path;
    std::uint32_t gaps_before = 0;  // gaps this core had when the call began
    std::uint32_t plain_end = 0;    // upper half of the return that ends it: plain_return()

    bool is_gap() const { return plain_end == gap_marker; }  // a gap's marker, not a call
    bool is_shown() const { return !is_gap() && gaps_before != hidden; }
};

// Facts for the calls below a gap's marker after the marker has left the stack.
struct Carry {
    bool active = false;
    Ticks cut = 0;    // when the gap began: the time of a lost call ends here
    Ticks after = 0;  // the gap's length and the time of the calls after it
    Ticks away = 0;   // after the gap
};

struct DecoderCounters {
    std::uint64_t orphan_returns = 0;  // no open call has the entry that they name
    std::uint64_t too_deep = 0;        // the stack had no room: counted as calls without time
    std::uint64_t unknown_records = 0;
};

}  // namespace nopscope::host
