// SPDX-License-Identifier: Apache-2.0
// The names of recorders and modes. On the line and in recordings they have the numbers of the API.
#pragma once

#include <cstddef>
#include <iterator>

#include "nopscope/recorders.hpp"

namespace nopscope::protocol {

using nopscope::Mode;
using nopscope::Recorder;

inline constexpr const char* recorder_names[] = {"none",    "function", "graph",
                                                 "profile", "duration", "sampled"};
static_assert(std::size(recorder_names) == static_cast<std::size_t>(Recorder::sampled) + 1);

// Hello's overheads and the bits of Stats::recorders leave out `none`.
inline constexpr std::size_t overhead_count = std::size(recorder_names) - 1;
constexpr std::size_t overhead_index(Recorder recorder) {
    return static_cast<std::size_t>(recorder) - 1;
}

inline constexpr const char* mode_names[] = {"stream", "lossless", "flight", "adaptive"};
static_assert(std::size(mode_names) == static_cast<std::size_t>(Mode::adaptive) + 1);

}  // namespace nopscope::protocol
