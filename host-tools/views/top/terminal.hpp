// SPDX-License-Identifier: Apache-2.0
// The terminal (ncurses): shows frames and reads keys. The destructor, or a signal, restores it.
#pragma once

#include <chrono>
#include <cstdio>
#include <optional>

#include "host-tools/views/top/frame.hpp"

namespace nopscope::host::top {

class Terminal {
public:
    // Standard output must be a terminal. Throws Error if its kind is unknown. Keeps standard error
    // until the terminal is restored, because the text of exec:'s QEMU would draw over the screen.
    Terminal();
    ~Terminal();
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;

    Size size() const;
    void show(const Frame& frame);
    // While it is off, as at first, the terminal itself selects text.
    void use_mouse(bool on);
    // Waits for a key. Nothing: none came, or the terminal's size has changed.
    std::optional<Key> key(std::chrono::milliseconds timeout);

private:
    int attributes_of(Style style) const;
    void keep_errors();
    void show_errors();

    bool has_colour_ = false;
    bool has_mouse_ = false;
    std::FILE* errors_ = nullptr;
    int standard_error_ = -1;
};

}  // namespace nopscope::host::top
