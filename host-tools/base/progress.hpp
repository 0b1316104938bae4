// SPDX-License-Identifier: Apache-2.0
// Shows the progress of long work in a temporary line of stderr. Only on a terminal, and only if
// the work takes more than half a second.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace nopscope::host {

class Progress {
public:
    // `what` is shown before the number, unchanged: use for_terminal() for outside text.
    explicit Progress(std::string what);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    // `total` 0: unknown, so the done bytes are shown. Cheap enough for frequent calls.
    void at(std::uint64_t done, std::uint64_t total);

private:
    using Clock = std::chrono::steady_clock;
    const std::string what_;
    const Clock::time_point begin_ = Clock::now();
    Clock::time_point next_;  // max(): stderr is not a terminal
    bool drawn_ = false;
};

}  // namespace nopscope::host
