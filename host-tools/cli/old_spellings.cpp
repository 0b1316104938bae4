// SPDX-License-Identifier: Apache-2.0
#include "host-tools/cli/old_spellings.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host-tools/base/say.hpp"
#include "host-tools/command/verbs.hpp"

namespace nopscope::host {
namespace {

struct OldOption {
    std::string_view command;  // empty: each command with the verbs' options
    std::string_view name;
    std::string_view value;  // empty: any
    std::string_view now;
};
// The verbs' table has the old names of verbs.
constexpr OldOption old_options[] = {
    {"", "--mode", "profile", "--recorder"},   {"record", "--raw", "", "--save-line"},
    {"top", "--after", "", "--delay"},         {"graph", "--depth", "", "--levels"},
    {"outliers", "--count", "", "--top"},      {"export", "--to", "", "--format"},
    {"doctor", "--seconds", "", "--duration"},
};

}  // namespace

std::string current_option(std::string_view command, const std::string& option,
                           std::string_view value) {
    const bool has_verbs = command == "record" || command == "top" || command == "serve";
    for (const Verb& verb : verbs()) {
        if (has_verbs && verb.old_option != nullptr && option == verb.old_option) {
            return "--" + std::string(verb.name);
        }
    }
    for (const OldOption& old : old_options) {
        const bool is_here = old.command.empty() ? has_verbs : command == old.command;
        if (!is_here || option != old.name || (!old.value.empty() && value != old.value)) continue;
        return std::string(old.now);
    }
    return option;
}

std::string used_option(std::string_view command, const std::string& option,
                        std::string_view value) {
    std::string now = current_option(command, option, value);
    if (now == option) return now;
    const bool is_of_value = current_option(command, option) == option;
    const std::string with = is_of_value ? fmt::format(" {}", value) : "";
    say(fmt::format("{}{} is now {}{}: nopscope {} will not know the old name", option, with, now,
                    with, old_options_end));
    return now;
}

void use_current_options(std::vector<std::string>& words) {
    for (std::size_t n = 1; n < words.size() && words[n] != "--"; ++n) {
        const std::size_t end = std::min(words[n].find('='), words[n].size());
        const bool has_value = end != words[n].size();
        const std::string value = has_value              ? words[n].substr(end + 1)
                                  : n + 1 < words.size() ? words[n + 1]
                                                         : "";
        words[n].replace(0, end, used_option(words.front(), words[n].substr(0, end), value));
    }
}

}  // namespace nopscope::host
