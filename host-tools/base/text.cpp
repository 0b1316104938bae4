// SPDX-License-Identifier: Apache-2.0
#include "host-tools/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <iterator>
#include <utility>

namespace nopscope::host {
namespace {

// The length of the valid UTF-8 sequence at the start of `text`, or 0 (Unicode 15, table 3-7).
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

// Decodes one valid sequence.
std::uint32_t code_point(std::string_view sequence) {
    const auto lead = static_cast<std::uint8_t>(sequence[0]);
    std::uint32_t value = sequence.size() == 1 ? lead : lead & (0x7fu >> sequence.size());
    for (const char tail : sequence.substr(1))
        value = value << 6 | (static_cast<std::uint8_t>(tail) & 0x3fu);
    return value;
}

struct CodePoints {
    std::uint32_t first, last;
};
// Invisible characters that change how a line is shown: Unicode 15's general categories Cf, Zl and
// Zp, the C1 controls, and the property Default_Ignorable_Code_Point. Ascending.
constexpr CodePoints unseen[] = {
    {0x80, 0x9f},       {0xad, 0xad},       {0x34f, 0x34f},     {0x600, 0x605},
    {0x61c, 0x61c},     {0x6dd, 0x6dd},     {0x70f, 0x70f},     {0x890, 0x891},
    {0x8e2, 0x8e2},     {0x115f, 0x1160},   {0x17b4, 0x17b5},   {0x180b, 0x180f},
    {0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x206f},   {0x3164, 0x3164},
    {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},   {0xfff0, 0xfffb},
    {0x110bd, 0x110bd}, {0x110cd, 0x110cd}, {0x13430, 0x1343f}, {0x1bca0, 0x1bca3},
    {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
};

bool is_unseen(std::uint32_t code) {
    const auto* const range = std::find_if(std::begin(unseen), std::end(unseen),
                                           [code](const CodePoints& r) { return code <= r.last; });
    return range != std::end(unseen) && code >= range->first;
}

std::string escaped(std::string_view bytes, bool lines) {
    std::string out;
    out.reserve(bytes.size());
    for (std::size_t i = 0; i < bytes.size();) {
        const auto byte = static_cast<std::uint8_t>(bytes[i]);
        if ((byte >= 0x20 && byte < 0x7f) || (lines && (byte == '\n' || byte == '\t'))) {
            out.push_back(bytes[i++]);
            continue;
        }
        if (lines && byte == '\r' && i + 1 < bytes.size() && bytes[i + 1] == '\n') {
            ++i;
            continue;
        }
        const std::size_t length = byte >= 0x80 ? utf8_length(bytes.substr(i)) : 0;
        const std::string_view sequence = bytes.substr(i, length);
        const std::uint32_t code = length == 0 ? 0 : code_point(sequence);
        if (length != 0 && !is_unseen(code)) {
            out.append(sequence);
            i += length;
            continue;
        }
        if (code > 0x9f) {
            fmt::format_to(std::back_inserter(out), "\\u{{{:x}}}", code);
            i += length;
            continue;
        }
        constexpr char digits[] = "0123456789abcdef";
        out.append({'\\', 'x', digits[byte >> 4], digits[byte & 15]});
        ++i;
    }
    return out;
}

constexpr std::size_t longest = 200;  // limits the time: a product of two lengths
constexpr std::size_t most_shown = 3;

// The edit distance in letters.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t change = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
        }
    }
    return row.back();
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

std::optional<std::uint64_t> read_number(std::string_view text) {
    const bool is_hex = text.starts_with("0x");
    if (is_hex) text.remove_prefix(2);
    std::uint64_t value = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), value, is_hex ? 16 : 10);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

// libc++ 19 has no std::from_chars() for it.
std::optional<double> take_decimal(std::string_view& text) {
    const std::string digits(text.substr(0, text.find_first_not_of("0123456789.")));
    char* end = nullptr;
    const double value = std::strtod(digits.c_str(), &end);
    if (end == digits.c_str()) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - digits.c_str()));
    return value;
}

std::string to_hex(std::span<const std::uint8_t> bytes) {
    std::string out;
    for (const std::uint8_t byte : bytes) fmt::format_to(std::back_inserter(out), "{:02x}", byte);
    return out;
}
std::string to_hex(std::string_view bytes) {
    return to_hex({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
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
std::string exact_ns(std::uint64_t ns) {
    static constexpr std::pair<std::uint64_t, const char*> units[] = {
        {1'000'000'000, "s"}, {1'000'000, "ms"}, {1'000, "us"}};
    for (const auto& [unit, name] : units) {
        if (ns < unit) continue;
        std::string fraction = std::to_string(unit + ns % unit).substr(1);
        fraction.erase(fraction.find_last_not_of('0') + 1);
        return fmt::format("{}{}{}{}", ns / unit, fraction.empty() ? "" : ".", fraction, name);
    }
    return fmt::format("{}ns", ns);
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

std::string some_of(const std::vector<std::string>& names, std::size_t most) {
    std::string text;
    for (std::size_t i = 0; i < std::min(most, names.size()); ++i)
        text += (i != 0 ? ", " : "") + for_cell(names[i]);
    if (names.size() > most) text += fmt::format(" and {} more", names.size() - most);
    return text;
}

void add_count(std::string& list, std::uint64_t count, std::string_view what) {
    if (count == 0) return;
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ", with_commas(count), what);
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& names) {
    if (word.size() > longest) return {};
    std::vector<std::pair<std::size_t, std::string_view>> near;
    for (const std::string& name : names) {
        if (name.size() > longest) continue;
        const std::size_t letters = distance(word, name);
        if (letters <= (word.size() + 1) / 3) near.emplace_back(letters, name);
    }
    std::sort(near.begin(), near.end());
    near.erase(std::unique(near.begin(), near.end()), near.end());
    const std::size_t shown = std::min(most_shown, near.size());
    std::string text;
    for (std::size_t n = 0; n < shown; ++n) {
        text += (n == 0           ? ": did you mean "
                 : n + 1 == shown ? " or "
                                  : ", ") +
                for_cell(near[n].second);
    }
    return text.empty() ? text : text + "?";
}

}  // namespace nopscope::host
