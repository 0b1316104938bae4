// SPDX-License-Identifier: Apache-2.0
#include "host-tools/line/stream/boot_lines.hpp"

#include <algorithm>
#include <utility>

#include "host-tools/base/text.hpp"

namespace nopscope::host {
namespace {

constexpr std::string_view mark = "boot: ";
constexpr std::string_view first_mark = "boot: nopscope ";
// Rates to which a UART and an adapter may be set.
constexpr std::uint64_t lowest_baud = 300, highest_baud = 100'000'000;

bool is_printable(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < 0x7f; });
}

}  // namespace

bool BootWords::take(std::string_view line) {
    if (!line.starts_with(mark) || !is_printable(line)) return false;
    line.remove_prefix(mark.size());
    while (!line.empty()) {
        const std::size_t space = std::min(line.find(' '), line.size());
        const std::string_view word = line.substr(0, space);
        line.remove_prefix(std::min(space + 1, line.size()));
        const std::size_t equals = word.find('=');
        if (equals == 0 || equals == std::string_view::npos || words_.size() >= most_words)
            continue;
        words_.insert_or_assign(std::string(word.substr(0, equals)),
                                std::string(word.substr(equals + 1)));
    }
    return true;
}

std::optional<std::uint64_t> BootWords::number(const std::string& key) const {
    const auto found = words_.find(key);
    return found == words_.end() ? std::nullopt : read_number(found->second);
}

std::string BootWords::text(const std::string& key) const {
    const auto found = words_.find(key);
    return found == words_.end() ? std::string() : found->second;
}

std::size_t BootLines::feed(std::span<const std::uint8_t> bytes, bool alone) {
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        const std::uint8_t byte = bytes[at];
        if (byte == '\n') {
            if (end_line(alone)) return at + 1;
        } else if (byte == 0) {  // a frame's end, or bytes from a slower rate
            line_.clear();
            is_too_long_ = after_boot_line_ = false;
        } else if (line_.size() < longest_line) {
            line_ += static_cast<char>(byte);
        } else if (line_.find(first_mark) == std::string::npos) {
            // A boot may begin within an unfinished frame, so only the last bytes matter.
            line_.erase(0, longest_line / 2);
            line_ += static_cast<char>(byte);
        } else {
            is_too_long_ = true;
        }
    }
    return bytes.size();
}

// Returns true if the line was an announcement.
bool BootLines::end_line(bool alone) {
    if (line_.ends_with('\r')) line_.pop_back();
    std::string_view line = line_;
    const std::size_t first = line.rfind(first_mark);
    if (first != std::string_view::npos) {
        line.remove_prefix(first);
        words_ = {};
        after_boot_line_ = true;
    }
    const bool is_boot = !is_too_long_ && (after_boot_line_ || alone) && words_.take(line);
    bool is_announcement = false;
    if (is_boot && line.starts_with("boot: baud=")) {
        const auto baud = words_.number("baud");
        is_announcement = baud && *baud >= lowest_baud && *baud <= highest_baud;
        if (is_announcement) baud_ = static_cast<std::uint32_t>(*baud);
    }
    after_boot_line_ = is_boot;
    line_.clear();
    is_too_long_ = false;
    return is_announcement;
}

std::optional<std::uint32_t> BootLines::take_baud() { return std::exchange(baud_, std::nullopt); }

}  // namespace nopscope::host
