// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "nopscope/nopscope.hpp"
#include "tracer/adaptive/demoted_sender.hpp"

namespace nopscope {

extern DemotedSites demoted_sites;
extern DemotedSender demoted_sender;

// In init(), before anything is traced.
void open_adaptive(const Config& config);
// From the next pump that may make a request on, or no more. Any context.
void want_adaptive(bool on);
// In pump(), without its lock.
void adapt();

}  // namespace nopscope
