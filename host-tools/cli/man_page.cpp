// SPDX-License-Identifier: Apache-2.0
// Pages in man(7).
#include "host-tools/cli/reference.hpp"
#include "host-tools/cli/commands_of.hpp"
#include "host-tools/version.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace nopscope {
namespace {

// A backslash, and what begins a line as a request would.
std::string roff(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if ((out.empty() || out.back() == '\n') && (c == '.' || c == '\'')) out += "\\&";
        if (c == '\\') {
            out += "\\e";
        } else if (c == '-') {
            out += "\\-";
        } else {
            out += c;
        }
    }
    return out;
}

std::string value_of(const CLI::Option& option) {
    if (option.get_items_expected_max() == 0) return {};
    std::string type = option.get_type_name();
    if (!type.starts_with('{')) type.resize(std::min(type.find(':'), type.size()));  // what is checked follows
    return " \\fI" + roff(type.empty() || type == "TEXT" ? "VALUE" : type) + "\\fR";
}

std::string options_of(const CLI::App& app) {
    std::string out;
    auto to = std::back_inserter(out);
    for (const CLI::Option* const option : shown_options(app)) {
        std::string names;
        if (option->get_positional()) {
            names = "\\fI" + roff(option->get_name(true)) + "\\fR";
        } else {
            for (const std::string& name : option->get_snames()) names += (names.empty() ? "" : ", ") + ("\\fB\\-" + roff(name)) + "\\fR";
            for (const std::string& name : option->get_lnames()) names += (names.empty() ? "" : ", ") + ("\\fB\\-\\-" + roff(name)) + "\\fR";
            names += value_of(*option);
        }
        fmt::format_to(to, ".TP\n{}\n{}\n", names, roff(option->get_description()));
    }
    return out;
}

std::string synopsis(const CLI::App& app, const std::string& name) {
    std::string out = "\\fB" + roff(name) + "\\fR";
    if (!shown_commands(app).empty()) return out + " \\fICOMMAND\\fR [\\fIOPTIONS\\fR]";
    for (const CLI::Option* const option : shown_options(app)) {
        if (!option->get_positional()) continue;
        const std::string more = option->get_items_expected_max() > 1 ? "..." : "";
        const std::string word = "\\fI" + roff(option->get_name(true)) + "\\fR" + more;
        out += option->get_required() ? " " + word : " [" + word + "]";
    }
    return out + " [\\fIOPTIONS\\fR]";
}

}  // namespace

std::string man_page(const CLI::App& app, const CLI::App* command) {
    const CLI::App& of = command != nullptr ? *command : app;
    const std::string name = command != nullptr ? "nopscope " + command->get_name() : "nopscope";
    std::string page_name = name;
    for (char& c : page_name) c = c == ' ' ? '-' : c;
    std::string out;
    auto to = std::back_inserter(out);
    fmt::format_to(to, ".TH {} 1 \"\" \"nopscope {}\" \"nopscope\"\n", page_name, version_text);
    const std::string what = command != nullptr ? of.get_description() : "a function profiler for arm64 firmware";
    fmt::format_to(to, ".SH NAME\n{} \\- {}\n", roff(page_name), roff(what));
    fmt::format_to(to, ".SH SYNOPSIS\n{}\n.SH OPTIONS\n{}", synopsis(of, name), options_of(of));
    if (command == nullptr) {
        out += ".SH COMMANDS\n";
        for (const CLI::App* const one : shown_commands(app)) {
            fmt::format_to(to, ".TP\n\\fBnopscope\\-{}\\fR(1)\n{}\n", roff(one->get_name()), roff(one->get_description()));
        }
    }
    if (!of.get_footer().empty()) fmt::format_to(to, ".SH MORE\n.nf\n{}\n.fi\n", roff(of.get_footer()));
    if (command != nullptr) out += ".SH SEE ALSO\n\\fBnopscope\\fR(1)\n";
    return out;
}

}  // namespace nopscope
