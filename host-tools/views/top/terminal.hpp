// SPDX-License-Identifier: Apache-2.0
// The terminal (ncurses): shows frames, reads keys, and is as it was when this is gone, also by a signal.
#pragma once

#include <chrono>
#include <cstdio>
#include <optional>

#include "host-tools/views/top/frame.hpp"

namespace nopscope::host::top {

class Terminal {
public:
    // Standard output is one. Throws Error: of a kind that nothing is known of. Standard error is kept, and shown when
    // the terminal is back: QEMU's, of exec:, would draw over the screen.
    Terminal();
    ~Terminal();
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;

    Size size() const;
    void show(const Frame& frame);
    // Waits for one; nothing: none came, or the terminal's size is another.
    std::optional<Key> key(std::chrono::milliseconds timeout);

private:
    int attributes_of(Style style) const;
    void keep_errors();
    void show_errors();

    bool has_colour_ = false;
    std::FILE* errors_ = nullptr;
    int standard_error_ = -1;
};

}  // namespace nopscope::host::top
