// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace nopscope::hal {

// True if a UART's rate is within 2.5 %, which a receiver tolerates: half a bit in ten, less the
// other side's error. `clock_hz` clocks the UART; its divisor makes the rate exactly from
// `exact_hz`.
constexpr bool receiver_tolerates(std::uint64_t clock_hz, std::uint64_t exact_hz) {
    return 40 * (exact_hz > clock_hz ? exact_hz - clock_hz : clock_hz - exact_hz) <= exact_hz;
}

}  // namespace nopscope::hal
