// SPDX-License-Identifier: Apache-2.0
// A result of one check of `doctor`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nopscope::host {

struct Finding {
    enum State : std::uint8_t { good, note, problem } state{};
    std::string what;  // "QEMU", "/dev/ttyUSB0"
    std::string text;
    std::string fix;  // empty: nothing to do
};
using Findings = std::vector<Finding>;

}  // namespace nopscope::host
