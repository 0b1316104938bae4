// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace nopscope::host::nsc {

// Changes the one byte of `bytes` with which they have the CRC-32C `crc`. False, and nothing is changed: no byte or
// several would do it. Of n bytes that were damaged in more than one place, it finds a wrong byte with a probability of
// n * 255 / 2^32.
bool repair_byte(std::span<std::uint8_t> bytes, std::uint32_t crc);

}  // namespace nopscope::host::nsc
