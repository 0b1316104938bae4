// SPDX-License-Identifier: Apache-2.0
// Register values and stacks that the boot core prepares for the other cores. boot.S reads them
// before their MMU is on. Byte offsets; static_asserts check them below.
#pragma once

#define SETUP_MAIR 0
#define SETUP_TCR 8
#define SETUP_TTBR0 16
#define SETUP_SCTLR 24
#define SETUP_HAS_KEYS 32
#define SETUP_KEYS 40
#define SETUP_STACKS 104

#ifndef __ASSEMBLER__
#include <cstddef>
#include <cstdint>

#include "hal/hal.hpp"

namespace nopscope::hal {

struct alignas(64) SecondarySetup {
    std::uint64_t mair, tcr, ttbr0, sctlr;
    std::uint64_t has_keys;  // FEAT_PAuth
    std::uint64_t keys[8];   // APIA, APIB, APDA, APDB, low half first
    std::uint64_t stack_high[max_cores];
};
static_assert(offsetof(SecondarySetup, mair) == SETUP_MAIR);
static_assert(offsetof(SecondarySetup, tcr) == SETUP_TCR);
static_assert(offsetof(SecondarySetup, ttbr0) == SETUP_TTBR0);
static_assert(offsetof(SecondarySetup, sctlr) == SETUP_SCTLR);
static_assert(offsetof(SecondarySetup, has_keys) == SETUP_HAS_KEYS);
static_assert(offsetof(SecondarySetup, keys) == SETUP_KEYS);
static_assert(offsetof(SecondarySetup, stack_high) == SETUP_STACKS);

}  // namespace nopscope::hal

extern "C" nopscope::hal::SecondarySetup nopscope_secondary_setup;
#endif
