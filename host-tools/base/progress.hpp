// SPDX-License-Identifier: Apache-2.0
// How far long work is, in a line of stderr that goes away again: only on a terminal, and only when it takes more than
// half a second.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace nopscope::host {

class Progress {
public:
    // `what` is shown before the number, as it is: for_terminal() first where it is somebody else's text.
    explicit Progress(std::string what);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    // `total` 0: not known; the bytes done are shown. Called as often as one likes.
    void at(std::uint64_t done, std::uint64_t total);

private:
    using Clock = std::chrono::steady_clock;
    const std::string what_;
    const Clock::time_point begin_ = Clock::now();
    Clock::time_point next_;  // never: stderr is no terminal
    bool drawn_ = false;
};

}  // namespace nopscope::host
