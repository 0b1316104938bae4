// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

namespace nopscope::selftest {

struct CrashCase {
    const char* name;
    void (*way)();
};
// Those of one architecture; empty: it has none.
extern const std::span<const CrashCase> more_crashes;

}  // namespace nopscope::selftest
