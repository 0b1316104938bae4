// SPDX-License-Identifier: Apache-2.0
// Replaces the hal's header: each access goes to the test's bus.
#pragma once

#include <cstdint>

namespace nopscope::hal {

std::uint32_t read32(std::uint64_t address);
void write32(std::uint64_t address, std::uint32_t value);
void write64(std::uint64_t address, std::uint64_t value);
std::uint8_t read8(std::uint64_t address);
void write8(std::uint64_t address, std::uint8_t value);

}  // namespace nopscope::hal
