// SPDX-License-Identifier: Apache-2.0
#include "host-tools/views/top/text.hpp"

#include <fmt/format.h>

#include <cwchar>

namespace nopscope::host::top {
namespace {

// The first character of `text`: its bytes and its columns. `text` is valid UTF-8 (for_cell).
struct Character {
    std::size_t bytes = 1;
    std::size_t columns = 1;
};
Character first_of(std::string_view text) {
    const auto lead = static_cast<unsigned char>(text[0]);
    if (lead < 0x80) return {};
    const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (bytes > text.size()) return {};
    std::uint32_t code = lead & (0xffu >> (bytes + 1));
    for (std::size_t i = 1; i < bytes; ++i)
        code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3f);
    const int width = wcwidth(static_cast<wchar_t>(code));
    return {bytes, width < 0 ? 1 : static_cast<std::size_t>(width)};
}

// "map<int, a<b>>::find" -> "map<>::find"; leaves operator< and -> as they are.
std::string without_template_arguments(std::string_view name) {
    std::string out;
    unsigned depth = 0;
    for (std::size_t i = 0; i < name.size(); ++i) {
        const bool of_operator = out.ends_with("operator") || out.ends_with("operator<") ||
                                 out.ends_with("operator>") || (i > 0 && name[i - 1] == '-');
        if (depth == 0 && of_operator) {
            out += name[i];
        } else if (name[i] == '<') {
            if (depth++ == 0) out += '<';
        } else if (name[i] == '>' && depth > 0) {
            if (--depth == 0) out += '>';
        } else if (depth == 0) {
            out += name[i];
        }
    }
    return out;
}

std::size_t pad(std::string_view utf8, std::size_t width) {
    const std::size_t has = columns(utf8);
    return has < width ? width - has : 0;
}

}  // namespace

std::size_t columns(std::string_view utf8) {
    std::size_t sum = 0;
    while (!utf8.empty()) {
        const Character each = first_of(utf8);
        sum += each.columns;
        utf8.remove_prefix(each.bytes);
    }
    return sum;
}

std::string first_columns(std::string_view utf8, std::size_t width) {
    std::size_t bytes = 0;
    while (bytes < utf8.size()) {
        const Character each = first_of(utf8.substr(bytes));
        if (each.columns > width) break;
        width -= each.columns;
        bytes += each.bytes;
    }
    return std::string(utf8.substr(0, bytes));
}

std::string left(std::string_view utf8, std::size_t width) {
    std::string text = first_columns(utf8, width);
    return text.append(pad(text, width), ' ');
}

std::string right(std::string_view utf8, std::size_t width) {
    const std::string text = first_columns(utf8, width);
    return std::string(pad(text, width), ' ') + text;
}

std::string short_name(std::string_view name, std::size_t width) {
    if (columns(name) <= width) return std::string(name);
    std::string text = without_template_arguments(name);
    constexpr std::string_view dots = "..";
    if (columns(text) <= width) return text;
    if (width <= dots.size()) return first_columns(text, width);
    for (std::size_t at = text.find("::"); at != std::string::npos; at = text.find("::", at + 2)) {
        const auto rest = std::string_view(text).substr(at + 2);
        if (columns(rest) + dots.size() <= width) return std::string(dots).append(rest);
    }
    if (const std::size_t last = text.rfind("::");
        last != std::string::npos && last + 2 < text.size()) {
        text.erase(0, last + 2);
    }
    return first_columns(text, width - dots.size()).append(dots);
}

std::string short_count(double value) {
    static constexpr const char* units[] = {"", "k", "M", "G", "T"};
    std::size_t unit = 0;
    while (value >= 999.5 && unit + 1 < std::size(units)) {
        value /= 1000;
        ++unit;
    }
    if (unit == 0)
        return value > 0 && value < 9.95 ? fmt::format("{:.1f}", value)
                                         : fmt::format("{:.0f}", value);
    return fmt::format("{:.{}f}{}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0, units[unit]);
}

std::string short_count(std::uint64_t value) {
    return value < 1000 ? std::to_string(value) : short_count(static_cast<double>(value));
}

std::string percent(double share) { return fmt::format("{:.1f} %", share * 100); }

}  // namespace nopscope::host::top
