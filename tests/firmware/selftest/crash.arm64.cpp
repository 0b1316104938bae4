// SPDX-License-Identifier: Apache-2.0
#include "tests/firmware/selftest/crash.hpp"

#include "tests/firmware/selftest/targets.hpp"

#include <cstdint>

// The expected backtraces have these names.
extern "C" {

std::uint32_t crash_data_word = 0xd65f'03c0;  // RET
static void crash_execute_data() {
    const auto data = reinterpret_cast<void (*)()>(&crash_data_word);
    data();
}
}

namespace nopscope::selftest {

static constexpr CrashCase cases[] = {
    {"hvc", selftest_hvc},
    {"execute-data", crash_execute_data},
};
constinit const std::span<const CrashCase> more_crashes = cases;

}  // namespace nopscope::selftest
