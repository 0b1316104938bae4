// SPDX-License-Identifier: Apache-2.0
// The state of the target, from its stats frames: which recorders and mode are in force, and since
// when; how many callbacks it left out; and when the host read its profile.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "tracer/protocol/stats.hpp"

namespace nopscope::host {

// Times are ticks since the session's first event.
struct InForceChange {
    std::uint64_t ticks = 0;
    std::uint64_t mode = 0;       // protocol::Stats::mode
    std::uint64_t recorders = 0;  // protocol::Stats::recorders
    std::uint64_t session = 0;
};

// Of the last session whose target keeps a profile.
struct ProfileReading {
    bool kept = false;                   // the target keeps a profile
    std::optional<std::uint64_t> ticks;  // when the last read-out ended; nothing: never read
    std::uint64_t session = 0;
};

class TargetState {
public:
    // Further changes are left out.
    static constexpr std::size_t max_changes = 4096;

    void on_stats(unsigned core, const protocol::Stats& stats);
    // Takes any profile frame, and ignores malformed ones.
    void on_profile(unsigned core, const std::uint8_t* payload, std::size_t count);
    // `first`: clock of the session's first event; nothing: the session has no event.
    void on_session_end(std::optional<std::uint64_t> first, std::uint64_t session);
    // Counts recursions() from now on.
    void zero();

    // Call these after the last session's end.
    bool is_known() const { return known_; }
    const std::vector<InForceChange>& changes() const { return changes_; }
    // When a request stopped recording, since the last session's first event; nothing: it is on.
    std::optional<std::uint64_t> stopped_ticks() const { return stopped_; }
    std::uint64_t recursions() const { return recursions_; }
    const ProfileReading& reading() const { return reading_; }

private:
    struct Core {
        protocol::Stats last;
        std::uint64_t at_zero = 0;                // recursions
        std::optional<std::uint64_t> read_clock;  // of the last part of its last read-out
    };
    std::map<unsigned, Core> cores_;     // of this session
    std::vector<protocol::Stats> told_;  // of this session, one for each change
    bool known_ = false;
    std::vector<InForceChange> changes_;
    std::optional<std::uint64_t> stopped_;
    std::uint64_t recursions_ = 0;
    ProfileReading reading_;
};

}  // namespace nopscope::host
