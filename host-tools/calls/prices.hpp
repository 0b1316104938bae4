// SPDX-License-Identifier: Apache-2.0
// The price in bytes of each entry of a profile, charged to the budget (base/memory.hpp): its own
// memory, and the most that a report, a graph, a page or an export needs for it later. Measured
// with tests/memory. If the budget refuses an entry:
//
//   a function                             It becomes FunctionTable::none, "(others)".
//   a path                                 It becomes CallTree::overflow, "(others)".
//   a function of the target's profile     It is added to TargetProfile::others().
//   an open call                           It is counted, not timed (DecoderCounters::too_deep).
//   a context                              Its records count as the core's last context's.
//   a waiting call of a duration record    All waiting calls go below "(callers lost in a gap)".
//   a sample's address                     The sample ends at the last known address.
//   a value, a task's facts, a mark, ...   It is left out (Profile::left_out()).
#pragma once

#include <cstdint>

namespace nopscope::host::price {

inline constexpr std::uint64_t function = 4096;       // includes its rows in a text or JSON
inline constexpr std::uint64_t function_page = 1024;  // of a FunctionTable
inline constexpr std::uint64_t path = 1024;
inline constexpr std::uint64_t context = 8192;
inline constexpr std::uint64_t waiting_call = 256;
inline constexpr std::uint64_t sampled_address = 2560;
inline constexpr std::uint64_t series = 2048;
inline constexpr std::uint64_t profiled = 704;      // a function in a core's profile
inline constexpr std::uint64_t profile_row = 8192;  // such a function, all cores together
inline constexpr std::uint64_t events_entry = 192;
inline constexpr std::uint64_t events_row = 3072;
inline constexpr std::uint64_t task = 2048;  // a context's facts or counts, or an object
inline constexpr std::uint64_t waits_of_object = 512;
inline constexpr std::uint64_t list_entry =
    1024;  // a mark, a gap, a move, a masked stretch, a context's times

}  // namespace nopscope::host::price
