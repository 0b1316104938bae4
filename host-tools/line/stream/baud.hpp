// SPDX-License-Identifier: Apache-2.0
// Finds a serial line's rate from bytes that were read at another rate.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace nopscope::host {

// Bits per second that targets and adapters use, ascending.
inline constexpr std::array<std::uint32_t, 16> common_bauds{
    9600,   19200,  38400,   57600,   115200,  230400,  460800,  500000,
    576000, 921600, 1000000, 1500000, 2000000, 2500000, 3000000, 4000000};

// The common rates at which `bytes` were probably sent (8N1), if a port at `received_baud` read
// them. Returns one rate, or two that are within a tenth of each other, the more likely one first.
// Empty: not known. All are below `received_baud`: a receiver that is slower than the sender misses
// bits, and its bytes look random.
std::vector<std::uint32_t> likely_bauds(std::span<const std::uint8_t> bytes,
                                        std::uint32_t received_baud);

}  // namespace nopscope::host
