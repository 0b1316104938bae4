// SPDX-License-Identifier: Apache-2.0
#include "host-tools/base/text.hpp"

#include <fmt/format.h>

namespace nopscope {
namespace {

// The length of the valid UTF-8 sequence at the start of `text`, 0 when there is none (Unicode 15,
// table 3-7).
std::size_t utf8_length(std::string_view text) {
    const auto at = [&](std::size_t i) {
        return i < text.size() ? static_cast<std::uint8_t>(text[i]) : std::uint8_t{0};
    };
    const auto tail = [&](std::size_t i) { return (at(i) & 0xc0) == 0x80; };
    const std::uint8_t lead = at(0);
    if (lead < 0x80) return text.empty() ? 0 : 1;
    if (lead >= 0xc2 && lead <= 0xdf) return tail(1) ? 2 : 0;
    if (lead >= 0xe0 && lead <= 0xef) {
        const std::uint8_t low = lead == 0xe0 ? 0xa0 : 0x80;
        const std::uint8_t high = lead == 0xed ? 0x9f : 0xbf;
        return at(1) >= low && at(1) <= high && tail(2) ? 3 : 0;
    }
    if (lead >= 0xf0 && lead <= 0xf4) {
        const std::uint8_t low = lead == 0xf0 ? 0x90 : 0x80;
        const std::uint8_t high = lead == 0xf4 ? 0x8f : 0xbf;
        return at(1) >= low && at(1) <= high && tail(2) && tail(3) ? 4 : 0;
    }
    return 0;
}

std::string escaped(std::string_view bytes, bool lines) {
    std::string out;
    out.reserve(bytes.size());
    for (std::size_t i = 0; i < bytes.size();) {
        const auto byte = static_cast<std::uint8_t>(bytes[i]);
        if (byte >= 0x20 && byte < 0x7f) {
            out.push_back(bytes[i++]);
            continue;
        }
        if (lines && (byte == '\n' || byte == '\t')) {
            out.push_back(bytes[i++]);
            continue;
        }
        if (lines && byte == '\r' && i + 1 < bytes.size() && bytes[i + 1] == '\n') {
            ++i;
            continue;
        }
        const std::size_t length = byte >= 0x80 ? utf8_length(bytes.substr(i)) : 0;
        const bool c1 =
            byte == 0xc2 && length == 2 && static_cast<std::uint8_t>(bytes[i + 1]) < 0xa0;
        if (length != 0 && !c1) {
            out.append(bytes.substr(i, length));
            i += length;
            continue;
        }
        fmt::format_to(std::back_inserter(out), "\\x{:02x}", byte);
        ++i;
    }
    return out;
}

}  // namespace

bool is_console_text(std::span<const std::uint8_t> bytes) {
    for (const std::uint8_t byte : bytes) {
        const bool line = byte == '\n' || byte == '\r' || byte == '\t';
        if ((byte < 0x20 && !line) || byte >= 0x7f) return false;
    }
    return true;
}

std::string for_terminal(std::string_view bytes) { return escaped(bytes, true); }
std::string for_cell(std::string_view bytes) { return escaped(bytes, false); }

std::string to_utf8(std::string_view bytes) {
    std::string out;
    out.reserve(bytes.size());
    for (std::size_t i = 0; i < bytes.size();) {
        const std::size_t length = utf8_length(bytes.substr(i));
        if (length == 0) {
            out.append("\xef\xbf\xbd");
            ++i;
        } else {
            out.append(bytes.substr(i, length));
            i += length;
        }
    }
    return out;
}

std::string to_hex(std::span<const std::uint8_t> bytes) {
    std::string out;
    for (const std::uint8_t byte : bytes) fmt::format_to(std::back_inserter(out), "{:02x}", byte);
    return out;
}

std::string hex_address(std::uint64_t address) { return fmt::format("0x{:x}", address); }

std::string human_ns(double ns) {
    static constexpr const char* units[] = {"ns", "us", "ms", "s"};
    std::size_t unit = 0;
    while (ns >= 999.5 && unit + 1 < std::size(units)) {
        ns /= 1000;
        ++unit;
    }
    if (unit == 0) return fmt::format("{:.0f} ns", ns);
    const int digits = ns < 9.995 ? 2 : ns < 99.95 ? 1 : 0;
    return fmt::format("{:.{}f} {}", ns, digits, units[unit]);
}
std::string human_ns(std::uint64_t ns) { return human_ns(static_cast<double>(ns)); }

std::string with_commas(std::uint64_t value) {
    const std::string digits = std::to_string(value);
    std::string out;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        if (i != 0 && (digits.size() - i) % 3 == 0) out.push_back(',');
        out.push_back(digits[i]);
    }
    return out;
}

}  // namespace nopscope
