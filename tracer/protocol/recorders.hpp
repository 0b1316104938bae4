// SPDX-License-Identifier: Apache-2.0
// Recorders and modes: their names, and their numbers on the line and in recordings. Numbers never
// change their meaning.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

namespace nopscope::protocol {

// As in set_recorder.
enum class Recorder : std::uint8_t { none, function, graph, profile, duration, sampled };
inline constexpr const char* recorder_names[] = {"none",    "function", "graph",
                                                 "profile", "duration", "sampled"};
static_assert(std::size(recorder_names) == static_cast<std::size_t>(Recorder::sampled) + 1);

// Hello's overheads and the bits of Stats::recorders leave out `none`.
inline constexpr std::size_t overhead_count = std::size(recorder_names) - 1;
constexpr std::size_t overhead_index(Recorder recorder) {
    return static_cast<std::size_t>(recorder) - 1;
}

// As in set_mode, and in Stats::mode.
enum class Mode : std::uint8_t { stream, lossless, flight, adaptive };
inline constexpr const char* mode_names[] = {"stream", "lossless", "flight", "adaptive"};
static_assert(std::size(mode_names) == static_cast<std::size_t>(Mode::adaptive) + 1);

}  // namespace nopscope::protocol
