// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "nopscope/nopscope.hpp"
#include "tracer/adaptive/demoted_sender.hpp"

namespace nopscope {

extern DemotedSites demoted_sites;
extern DemotedSender demoted_sender;

// init() calls it, before anything is traced.
void open_adaptive(const Config& config);
// Adaptive mode begins or ends in the next pump that can make a request. Any context.
void want_adaptive(bool on);
// pump() calls it, without the pump's lock.
void adapt();

}  // namespace nopscope
