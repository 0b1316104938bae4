// SPDX-License-Identifier: Apache-2.0
// ELF for the Arm 64-bit Architecture (AAELF64).
#include "host-tools/image/arch/elf.hpp"

namespace nopscope::host::arch {

bool is_known_machine(std::uint16_t machine) {
    constexpr std::uint16_t em_aarch64 = 183;
    return machine == em_aarch64;
}

// GNU_PROPERTY_AARCH64_FEATURE_1_AND, GNU_PROPERTY_AARCH64_FEATURE_1_BTI.
FeatureProperty feature_property() { return {0xc0000000, 1}; }

// R_AARCH64_RELATIVE
std::uint64_t relative_relocation() { return 1027; }

}  // namespace nopscope::host::arch
