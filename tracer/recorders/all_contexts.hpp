// SPDX-License-Identifier: Apache-2.0
// All contexts of the image, under one lock.
#pragma once

#include "nopscope/contexts.hpp"
#include "tracer/core/ring.hpp"

namespace nopscope {

struct AllContexts {
    Context mains[max_cores] = {};  // core n's
    Context* created = nullptr;     // a list, the newest first
    std::uint32_t lock = 0;
};
extern constinit AllContexts all_contexts;

}  // namespace nopscope
