// SPDX-License-Identifier: Apache-2.0
#include "host-tools/analysis/profile/moved_functions.hpp"

#include <algorithm>

namespace nopscope::host {

bool MovedFunctions::on_frame(const std::uint8_t* payload, std::size_t count) {
    protocol::MovedReader reader(payload, count);
    if (!reader.ok()) return false;
    any_frame_ = true;
    session_moves_ = std::max(session_moves_, reader.moves());
    for (protocol::Move move; reader.next(move);) {
        if (told_.size() == max_moves) break;
        told_.insert({move.clock, move.site_offset, move.to_profile});
    }
    return reader.ok();
}

void MovedFunctions::on_session_end(std::uint64_t first, std::uint64_t session) {
    for (const Told& told : told_) {
        if (events_.size() == max_moves) break;
        events_.push_back({.ticks = told.clock > first ? told.clock - first : 0,
                           .site_offset = told.site_offset,
                           .to_profile = told.to_profile,
                           .session = session});
    }
    told_.clear();
    moves_ += session_moves_;
    session_moves_ = 0;
}

}  // namespace nopscope::host
