// SPDX-License-Identifier: Apache-2.0
// The functions that a target in adaptive mode moved from the trace to the profile, and back. Its
// moved frames repeat the last move of each function.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "tracer/protocol/moved.hpp"

namespace nopscope::host {

struct MoveEvent {
    std::uint64_t ticks = 0;  // since the session's first event, exact to about 65536
    std::uint32_t site_offset = 0;
    bool to_profile = false;
    std::uint64_t session = 0;

    auto operator<=>(const MoveEvent&) const = default;
};

class MovedFunctions {
public:
    // In a session, and in all sessions together; later moves are left out.
    static constexpr std::size_t max_moves = std::size_t{1} << 16;

    // False: malformed.
    bool on_frame(const std::uint8_t* payload, std::size_t count);
    // `first`: clock of the session's first event.
    void on_session_end(std::uint64_t first, std::uint64_t session);

    // The target was in adaptive mode.
    bool any_frame() const { return any_frame_; }
    // The targets' own count, also of moves that no frame has because the function moved again.
    std::uint64_t moves() const { return moves_; }
    // The moves in the frames, in order; call it after the last session's end.
    const std::vector<MoveEvent>& events() const { return events_; }

private:
    std::set<MoveEvent> of_session_;  // of this session: `ticks` is the target's clock
    std::vector<MoveEvent> events_;
    std::uint64_t moves_ = 0;
    std::uint64_t session_moves_ = 0;
    bool any_frame_ = false;
};

}  // namespace nopscope::host
