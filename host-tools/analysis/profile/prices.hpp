// SPDX-License-Identifier: Apache-2.0
// What an entry of a profile is charged (base/memory.hpp), bytes: its own memory, and the most that a report, a graph, a
// page or an export needs for it later. Measured with tests/memory; where an entry is refused, what becomes of it:
//
//   a function    It is FunctionTable::none, "(others)".
//   a path        It is CallTree::overflow, "(others)".
//   a function of the target's profile     It is TargetProfile::others().
//   an open call  It is counted, not timed (DecoderCounters::too_deep).
//   a context     Its records count as the core's last context's.
//   a waiting call, told whole             Those that wait go below "(callers lost in a gap)".
//   a sample's address                     The sample ends at the last address that is known.
//   a value, an event's sums, a mark, ...  They are left out (Profile::left_out()).
#pragma once

#include <cstdint>

namespace nopscope::host::price {

inline constexpr std::uint64_t function = 4096;       // with its rows in a text or JSON
inline constexpr std::uint64_t function_page = 1024;  // of a FunctionTable
inline constexpr std::uint64_t path = 1024;
inline constexpr std::uint64_t context = 8192;
inline constexpr std::uint64_t waiting_call = 256;
inline constexpr std::uint64_t sampled_address = 2560;
inline constexpr std::uint64_t series = 2048;
inline constexpr std::uint64_t profiled = 704;        // a core's function
inline constexpr std::uint64_t profile_row = 8192;    // a function, all cores together
inline constexpr std::uint64_t events_entry = 192;
inline constexpr std::uint64_t events_row = 3072;
inline constexpr std::uint64_t list_entry = 1024;     // a mark, a gap, a move, a masked stretch, a context's times

}  // namespace nopscope::host::price
