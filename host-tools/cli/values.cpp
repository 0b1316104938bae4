// SPDX-License-Identifier: Apache-2.0
#include "host-tools/cli/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "host-tools/base/nearest.hpp"
#include "host-tools/base/text.hpp"

namespace nopscope::host {

CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
    return {[least, most](std::string& text) -> std::string {
                const auto value = read_number(text);
                if (!value || *value < least || *value > most) {
                    return fmt::format("expected a whole number from {} to {}, not {}", least, most,
                                       for_cell(text));
                }
                text = std::to_string(*value);  // CLI11 would take 010 for octal
                return {};
            },
            ""};
}

CLI::Validator real_number(double least, double most, const std::string& unit) {
    return {[least, most, unit](std::string& text) -> std::string {
                double value = 0;
                const char* const end = text.data() + text.size();
                const auto [at, error] = std::from_chars(text.data(), end, value);
                if (error == std::errc() && at == end && value >= least && value <= most) return {};
                return fmt::format("expected a number of {} from {} to {}, not {}", unit, least,
                                   most, for_cell(text));
            },
            ""};
}

CLI::Validator one_of(std::vector<std::string> words) {
    return {[words = std::move(words)](std::string& text) -> std::string {
                const auto found =
                    std::find_if(words.begin(), words.end(), [&](const std::string& word) {
                        return CLI::detail::to_lower(word) == CLI::detail::to_lower(text);
                    });
                if (found == words.end()) {
                    return fmt::format("expected one of {}, not {}{}", fmt::join(words, ", "),
                                       for_cell(text), did_you_mean(text, words));
                }
                text = *found;
                return {};
            },
            ""};
}

std::string choices(const std::vector<std::string>& words) {
    return fmt::format("{{{}}}", fmt::join(words, ","));
}

}  // namespace nopscope::host
