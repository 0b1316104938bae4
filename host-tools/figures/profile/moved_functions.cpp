// SPDX-License-Identifier: Apache-2.0
#include "host-tools/figures/profile/moved_functions.hpp"

#include <algorithm>

namespace nopscope::host {

bool MovedFunctions::on_frame(const std::uint8_t* payload, std::size_t count) {
    protocol::MovedReader reader(payload, count);
    if (!reader.ok()) return false;
    any_frame_ = true;
    session_moves_ = std::max(session_moves_, reader.moves());
    for (protocol::Move move; reader.next(move);) {
        if (of_session_.size() == max_moves) break;
        of_session_.insert({move.clock, move.site_offset, move.to_profile});
    }
    return reader.ok();
}

void MovedFunctions::on_session_end(std::uint64_t first, std::uint64_t session) {
    for (const MoveEvent& event : of_session_) {
        if (events_.size() == max_moves) break;
        const std::uint64_t ticks = event.ticks > first ? event.ticks - first : 0;
        events_.push_back({ticks, event.site_offset, event.to_profile, session});
    }
    of_session_.clear();
    moves_ += session_moves_;
    session_moves_ = 0;
}

}  // namespace nopscope::host
