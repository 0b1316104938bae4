// SPDX-License-Identifier: Apache-2.0
// What a GIC's distributor reveals: the security state it is seen from, and its number of priority
// bits. Arm IHI 0048, 4.3, and IHI 0069, 12.9.
#pragma once

#include <cstdint>

namespace nopscope::hal {

enum class GicSecurity : std::uint8_t {
    one_state,  // all is visible: no Security Extensions, or disabled
    secure,
    non_secure,  // hides interrupts of group 0, and shifts priorities by one bit
};

struct GicView {
    GicSecurity security;
    unsigned priority_bits;  // implemented ones; 0: no interrupt shows a priority
};

// `version`: 2 or 3. Boot core, interrupts masked, before the controller is set up. It writes
// registers to probe them, and restores them.
GicView gic_view(std::uint64_t distributor, unsigned version);

}  // namespace nopscope::hal
