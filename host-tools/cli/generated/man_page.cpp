// SPDX-License-Identifier: Apache-2.0
// Writes pages in the man(7) language.
#include "host-tools/base/version.hpp"
#include "host-tools/cli/generated/commands_of.hpp"
#include "host-tools/cli/generated/manual.hpp"
#include "host-tools/cli/generated/reference.hpp"
#include "host-tools/image/arch/arch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <string_view>

namespace nopscope::host {
namespace {

// Escapes a backslash, and a character that would begin a line as a roff request.
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
    if (!takes_value(option)) return {};
    std::string type = option.get_type_name();
    if (!type.starts_with('{'))
        type.resize(std::min(type.find(':'), type.size()));  // CLI11 appends the option's check
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
            for (const std::string& name : option->get_snames())
                names += (names.empty() ? "" : ", ") + ("\\fB\\-" + roff(name)) + "\\fR";
            for (const std::string& name : option->get_lnames())
                names += (names.empty() ? "" : ", ") + ("\\fB\\-\\-" + roff(name)) + "\\fR";
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
        const std::string more = is_repeated(*option) ? "..." : "";
        const std::string word = "\\fI" + roff(option->get_name(true)) + "\\fR" + more;
        out += option->get_required() ? " " + word : " [" + word + "]";
    }
    return out + " [\\fIOPTIONS\\fR]";
}

std::string table(const char* heading, std::span<const ManualRow> rows,
                  const std::string& command) {
    std::string out = fmt::format(".SH {}\n", heading);
    for (const ManualRow& row : rows) {
        if (is_about(row, command))
            out += fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(row.name), roff(row.text));
    }
    return out;
}

// Turns "a(1) b(1)" into bold names with commas between them.
std::string page_list(std::string_view pages) {
    std::string out;
    for (std::size_t at = 0; at < pages.size();) {
        const std::size_t end = std::min(pages.find(' ', at), pages.size());
        const std::string_view page = pages.substr(at, end - at);
        const std::size_t section = page.find('(');
        out += fmt::format("{}\\fB{}\\fR{}", out.empty() ? "" : ",\n",
                           roff(page.substr(0, section)), page.substr(section));
        at = end + 1;
    }
    return out + "\n";
}

std::string verbatim(const char* heading, std::string_view text) {
    while (text.starts_with('\n')) text.remove_prefix(1);
    while (text.ends_with('\n')) text.remove_suffix(1);
    return text.empty() ? "" : fmt::format(".SH {}\n.nf\n{}\n.fi\n", heading, roff(text));
}

// Splits a command's footer, which add_command() made: a heading, examples, an empty line, then
// notes or the footer of nopscope itself.
std::string examples_and_notes(const CLI::App& app, const CLI::App& command) {
    const std::string footer = command.get_footer();
    const std::size_t end = footer.starts_with("Examples:\n") ? footer.find("\n\n") : 0;
    const std::string examples = footer.substr(0, end), notes = footer.substr(end);
    return verbatim("EXAMPLES", examples.substr(std::min(examples.find('\n'), examples.size()))) +
           (notes.ends_with(app.get_footer()) ? "" : verbatim("NOTES", notes));
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
    const std::string what = command != nullptr ? of.get_description()
                                                : fmt::format("a function profiler for {} firmware",
                                                              arch_names(" and "));
    fmt::format_to(to, ".SH NAME\n{} \\- {}\n", roff(page_name), roff(what));
    fmt::format_to(to, ".SH SYNOPSIS\n{}\n.SH OPTIONS\n{}", synopsis(of, name), options_of(of));
    if (command == nullptr) {
        out += ".SH COMMANDS\n";
        std::string group;
        for (const CLI::App* const one : shown_commands(app)) {
            if (group != one->get_group())
                fmt::format_to(to, ".SS {}\n", roff(group = one->get_group()));
            fmt::format_to(to, ".TP\n\\fBnopscope\\-{}\\fR(1)\n{}\n", roff(one->get_name()),
                           roff(one->get_description()));
        }
    }
    const std::string about = command != nullptr ? command->get_name() : "";
    if (command != nullptr) out += examples_and_notes(app, *command);
    out += table("EXIT STATUS", exit_codes(), about) + table("ENVIRONMENT", environment(), about) +
           table("FILES", files(), about);
    out += ".SH SEE ALSO\n.nh\n.ad l\n" + page_list((command != nullptr ? "nopscope(1) " : "") +
                                                    std::string(related_pages(about)));
    return out;
}

}  // namespace nopscope::host
