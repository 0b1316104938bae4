// SPDX-License-Identifier: Apache-2.0
// How many of the PMU's events came while each call was open: from records, by the call tree's nodes, and from the
// target's profile, by functions.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "host-tools/profile/captured.hpp"
#include "host-tools/profile/correction.hpp"
#include "tracer/wire/profile_events.hpp"

namespace nopscope {
