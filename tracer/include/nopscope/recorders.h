// SPDX-License-Identifier: Apache-2.0
/// \file
/// Recorders and modes for C: recorders.hpp.
#pragma once

/// What a patch site records: nopscope::Recorder.
enum nopscope_recorder {
    NOPSCOPE_NO_RECORDER,  ///< Nothing.
    NOPSCOPE_FUNCTION,     ///< One record at each entry.
    NOPSCOPE_GRAPH,        ///< One record at each entry and one at each return.
    NOPSCOPE_PROFILE,      ///< No record. The target adds up calls and times.
    NOPSCOPE_DURATION,     ///< One record of each call of nopscope_set_min_duration() or longer.
    NOPSCOPE_SAMPLED,      ///< As graph, but of every n-th call: nopscope_set_sample().
};

/// What happens when a core's ring is full: nopscope::Mode.
enum nopscope_mode {
    NOPSCOPE_STREAM,    ///< The ring drops new records and counts them.
    NOPSCOPE_LOSSLESS,  ///< The producer runs the pump until there is room.
    NOPSCOPE_FLIGHT,    ///< A new record overwrites the oldest: nopscope_snapshot().
    NOPSCOPE_ADAPTIVE,  ///< Frequent functions move to the profile recorder, and later back.
};
