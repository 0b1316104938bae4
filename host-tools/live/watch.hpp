// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "host-tools/live/line.hpp"

namespace nopscope::host {

// Keeps the end of the console's text, which a live view shows besides the profile.
class Watch final : public TargetSink {
public:
    static constexpr std::size_t max_console_bytes = std::size_t{1} << 16;

    using TargetSink::TargetSink;
    void on_console(std::string_view text) override { keep(text); }
    void on_raw_text(std::string_view text) override { keep(text); }

    // Bytes from outside: sanitise before showing.
    const std::string& console() const { return console_; }
    std::uint64_t console_bytes() const { return console_bytes_; }  // received in all

private:
    void keep(std::string_view text) {
        console_bytes_ += text.size();
        console_ += text.substr(text.size() - std::min(text.size(), max_console_bytes));
        if (console_.size() > 2 * max_console_bytes)
            console_.erase(0, console_.size() - max_console_bytes);
    }

    std::string console_;  // up to twice max_console_bytes, so that erase() is rare
    std::uint64_t console_bytes_ = 0;
};

}  // namespace nopscope::host
