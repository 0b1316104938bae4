// SPDX-License-Identifier: Apache-2.0
// The lines of text that a board prints before anything else (docs/board-report.md):
//
//     boot: nopscope board=rpi4 level=2 dtb=0x2eff3a00
//     boot: counter_hz=54000000 arm_hz=1500000000 uart_hz=64000000
//     boot: baud=3000000
//
// The last line announces the rate at which the line continues. All of it is outside data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace nopscope::host {

// The words of one boot, by key.
class BootWords {
public:
    // Takes the words of a line, which has no line end. Returns false if it is not a boot line.
    bool take(std::string_view line);
    bool empty() const { return words_.empty(); }
    bool has(const std::string& key) const { return words_.contains(key); }
    // Nothing: the key is absent, or its value is not a number (decimal, or hex after 0x).
    std::optional<std::uint64_t> number(const std::string& key) const;
    // Empty: the key is absent.
    std::string text(const std::string& key) const;

private:
    static constexpr std::size_t most_words = 64;

    std::map<std::string, std::string> words_;
};

// Finds boot lines in the line's bytes: pieces of any size, with frames and noise.
class BootLines {
public:
    // `alone`: an announcement counts without a boot line before it. Returns how many bytes it
    // took: all, or those up to the end of an announcement.
    std::size_t feed(std::span<const std::uint8_t> bytes, bool alone);
    // Returns the last announced rate, once.
    std::optional<std::uint32_t> take_baud();
    // The words of the last boot.
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
