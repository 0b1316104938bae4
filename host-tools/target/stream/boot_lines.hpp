// SPDX-License-Identifier: Apache-2.0
// The lines that a board prints before all else, as text (docs/board-report.md):
//
//     boot: nopscope board=rpi4 level=2 dtb=0x2eff3a00
//     boot: counter_hz=54000000 arm_hz=1500000000 uart_hz=64000000
//     boot: baud=3000000
//
// The last one says at which rate the line goes on. All of it is outside data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace nopscope::host {

// What one boot has said: its words, by key.
class BootWords {
public:
    // Takes the words of a line, without its end. False: it is none of a boot's.
    bool take(std::string_view line);
    bool empty() const { return words_.empty(); }
    bool has(const std::string& key) const { return words_.contains(key); }
    // Nothing: the key is not there, or its value is no number (decimal, or hex after 0x).
    std::optional<std::uint64_t> number(const std::string& key) const;
    // Empty: the key is not there.
    std::string text(const std::string& key) const;

private:
    static constexpr std::size_t most_words = 64;

    std::map<std::string, std::string> words_;
};

// Finds the lines in what comes on a line, in pieces of any size, frames and noise included.
class BootLines {
public:
    // `alone`: an announcement counts without a boot's line in front of it. Returns how many bytes
    // it has taken: all, or up to the end of an announcement.
    std::size_t feed(std::span<const std::uint8_t> bytes, bool alone);
    // The rate that was announced last, once.
    std::optional<std::uint32_t> take_baud();
    // Of the last boot.
    const BootWords& words() const { return words_; }

private:
    static constexpr std::size_t longest_line = 256;

    bool end_line(bool alone);

    std::string line_;
    bool is_too_long_ = false;
    bool after_boot_line_ = false;
    std::optional<std::uint32_t> baud_;
    BootWords words_;
};

}  // namespace nopscope::host
