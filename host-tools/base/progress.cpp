// SPDX-License-Identifier: Apache-2.0
#include "host-tools/base/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace nopscope::host {

using namespace std::chrono_literals;

Progress::Progress(std::string what)
    : what_(std::move(what)),
      next_(isatty(STDERR_FILENO) != 0 ? begin_ + 500ms : Clock::time_point::max()) {}

Progress::~Progress() {
    if (drawn_) fmt::print(stderr, "\r\x1b[K");
}

void Progress::at(std::uint64_t done, std::uint64_t total) {
    const auto now = Clock::now();
    if (now < next_) return;
    next_ = now + 250ms;
    drawn_ = true;
    if (total == 0) {
        fmt::print(stderr, "\r\x1b[K{}: {:.1f} MB", what_, static_cast<double>(done) / 1e6);
        return;
    }
    const double share = static_cast<double>(std::min(done, total)) / static_cast<double>(total);
    const double past = std::chrono::duration<double>(now - begin_).count();
    fmt::print(stderr, "\r\x1b[K{}: {:.0f} %, {:.0f} s left", what_, 100 * share,
               past * (1 - share) / share);
}

}  // namespace nopscope::host
