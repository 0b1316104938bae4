// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "nopscope/nopscope.hpp"
#include "tracer/stream/replies.hpp"

namespace nopscope {

extern Replies command_replies;

void open_control(const Config& config, std::uint16_t session, std::uint64_t clock_hz);
// pump() calls it, without the pump's lock.
void poll_commands();

}  // namespace nopscope
