// SPDX-License-Identifier: Apache-2.0
/// \file
/// Recorders and modes. Target and host share the numbers, which never change their meaning.
#pragma once

#include <cstdint>

namespace nopscope {

/// What a patch site records.
enum class Recorder : std::uint8_t {
    none,      ///< Nothing.
    function,  ///< One record at each entry.
    graph,     ///< One record at each entry and one at each return.
    profile,   ///< No record. The target adds up each function's calls, times and histogram.
    duration,  ///< One record at the return of a call that took set_min_duration() or longer.
    sampled,   ///< As graph, but of every n-th call on a core: set_sample().
};

/// What happens when a core's ring is full.
enum class Mode : std::uint8_t {
    stream,    ///< The ring drops new records and counts them.
    lossless,  ///< The producer runs the pump until there is room.
    /// A new record overwrites the oldest. The tracer sends the ring at a snapshot(), in a panic,
    /// in finish(), and after a warm reset.
    flight,
    /// If the line cannot carry all records, the tracer moves functions from the graph to the
    /// profile recorder, the hottest first, and later back. A graph call that finds the ring full
    /// also goes to the profile. Only the function and duration recorders drop records. Needs
    /// Config::profile_memory.
    adaptive,
};

}  // namespace nopscope
