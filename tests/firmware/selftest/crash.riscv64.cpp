// SPDX-License-Identifier: Apache-2.0
#include "tests/firmware/selftest/crash.hpp"

// The expected backtraces have these names.
extern "C" {

// Data may be executed in machine mode, but nothing is at address 0.
static void crash_execute_null() {
    void (*volatile nothing)() = nullptr;
    nothing();
}
}

namespace nopscope::selftest {

static constexpr CrashCase cases[] = {{"execute-null", crash_execute_null}};
constinit const std::span<const CrashCase> more_crashes = cases;

}  // namespace nopscope::selftest
