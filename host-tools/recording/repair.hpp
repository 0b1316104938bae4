// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace nopscope::host::nsc {

// Changes one byte of `bytes` so that they have the CRC-32C `crc`. Returns false and changes
// nothing if no byte, or more than one, can be changed so. If n bytes are damaged in more than one
// place, it changes a wrong byte with a probability of n * 255 / 2^32.
bool repair_byte(std::span<std::uint8_t> bytes, std::uint32_t crc);

}  // namespace nopscope::host::nsc
