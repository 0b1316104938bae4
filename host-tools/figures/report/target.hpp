// SPDX-License-Identifier: Apache-2.0
// What the target tells of itself: its state, functions that it moved, interrupts that it masked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host-tools/calls/places.hpp"
#include "host-tools/figures/profile/profile.hpp"

namespace nopscope::host {

struct Report;

// A function that the target in adaptive mode moved to the profile, or back.
struct MoveRow : FunctionPlace {
    std::uint64_t at_ns = 0;  // since the session's first event
    bool to_profile = false;
    std::uint64_t session = 0;
};

// Interrupts of a core were masked for longer than ever before in its session, by this function.
struct MaskedRow : FunctionPlace {
    std::uint64_t at_ns = 0;  // its end, since the session's first event
    std::uint64_t length_ns = 0;
    unsigned core = 0;
    std::uint64_t session = 0;
};

// The target's state, by its own stats. Older targets do not send it.
struct TargetRow {
    std::uint64_t recorders = 0;  // in force: a bit for each protocol::overhead_index()
    std::uint64_t mode = 0;       // protocol::Stats::mode
    std::uint64_t from_ns = 0;    // since the session's first event
    std::uint64_t session = 0;
};
struct TargetFacts {
    bool known = false;
    std::vector<TargetRow> in_force;          // in order of time
    std::optional<std::uint64_t> stopped_ns;  // when a request stopped the recording
    bool keeps_profile = false;
    std::optional<std::uint64_t> read_ns;  // when the profile was last read; nothing: never
    std::vector<std::string> only_there;   // functions moved to the profile after its last read
    std::uint64_t recursions = 0;          // callbacks and captures that were left out
};

void add_moves(Report& report, const Profile& profile, const Places& places);
void add_masked(Report& report, const Profile& profile, const Places& places);
void add_target(Report& report, const Profile& profile);  // after add_moves()

}  // namespace nopscope::host
