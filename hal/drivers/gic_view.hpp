// SPDX-License-Identifier: Apache-2.0
// What a GIC's distributor shows of itself: from which security state it is seen, and how many priority bits it has.
// Arm IHI 0048, 4.3, and IHI 0069, 12.9.
#pragma once

#include <cstdint>

namespace nopscope::hal {

enum class GicSecurity : std::uint8_t {
    one_state,   // nothing is hidden: no Security Extensions, or they are disabled
    secure,
    non_secure,  // interrupts of group 0 cannot be seen, and priorities are shifted by one bit
};

struct GicView {
    GicSecurity security;
    unsigned priority_bits;  // implemented ones; 0: no interrupt shows any
};

// `version`: 2 or 3. Boot core, interrupts masked, before the controller is set up. What it writes to find out it puts
// back.
GicView gic_view(std::uint64_t distributor, unsigned version);

}  // namespace nopscope::hal
