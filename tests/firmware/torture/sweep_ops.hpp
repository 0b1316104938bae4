// SPDX-License-Identifier: Apache-2.0
// The callback sweep's ops, and what they saw.
#pragma once

#include <stdint.h>

#include "nopscope/nopscope.hpp"

namespace torture {

struct Seen {
    uint32_t calls[2];  // in thread context, in interrupts
    uint32_t wrong;     // with registers that differ from the call's
};
inline constexpr unsigned all_ops = 4;
extern Seen seen[all_ops];
extern nopscope::Ops noting, noting_too;
extern nopscope::Ops recurring;  // its callback calls a traced function
extern nopscope::Ops unguarded;

}  // namespace torture

extern "C" {
// far_sites.S
void torture_far();       // calls torture_direct once
void torture_far_bare();  // an ops without a direct entry
void torture_leaf();
extern const char torture_direct[];
extern uint64_t torture_direct_calls;
extern nopscope::Ops torture_far_ops, torture_bare_ops;
}
