// SPDX-License-Identifier: Apache-2.0
// Writes pages in the man(7) language.
#include "host-tools/base/version.hpp"
#include "host-tools/cli/generated/commands_of.hpp"
#include "host-tools/cli/generated/reference.hpp"
#include "host-tools/image/arch/arch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <sstream>
#include <string_view>

namespace nopscope::host {
namespace {

// What man pages have besides the options. A page shows the rows of its command.
struct ManualRow {
    std::string_view name;
    std::string_view text;
    std::string_view commands = {};  // separated by blanks; empty: each, and nopscope's own page
};

constexpr ManualRow codes[] = {
    {"0", "done"},
    {"1", "a check failed (check, doctor, diff --fail-above)", "check doctor diff"},
    {"2", "wrong usage"},
    {"3", "a file, port or image cannot be used, or an output cannot be written"},
    {"4", "record: the command behind exec: failed", "record"},
    {"5", "record: nothing was recorded", "record"},
};

constexpr ManualRow variables[] = {
    {"NOPSCOPE_CONFIG", "The file of defaults, instead of nopscope.toml and config.toml."},
    {"XDG_CONFIG_HOME",
     "The directory that has nopscope/config.toml. Without it: .config in HOME."},
    {"HOME", "The directory that has .config/nopscope/config.toml, if XDG_CONFIG_HOME is not set."},
    {"TERM", "The kind of terminal that top draws on.", "top"},
    {"LC_ALL, LC_CTYPE, LANG",
     "The characters that top may draw with: UTF-8 if they name it, and if C.UTF-8 is installed.",
     "top"},
    {"NO_COLOR", "If it is set and not empty, top uses no colours.", "top"},
};

constexpr ManualRow paths[] = {
    {"nopscope.toml",
     "Defaults of boards, in the working directory. It is read before the next one."},
    {"$XDG_CONFIG_HOME/nopscope/config.toml, ~/.config/nopscope/config.toml",
     "Defaults of boards, of all directories."},
    {"FILE.part",
     "What -o FILE records until the target is first heard. A recorder that is killed before "
     "leaves it; the next one replaces it.",
     "record top serve"},
    {"FILE.old", "The recording that was FILE before. An older FILE.old is replaced.",
     "record top serve"},
    {"NAME.000001.nsc, NAME.000002.nsc ...", "What --rotate makes of -o NAME.nsc.", "record"},
    {"/usr/share/doc/nopscope/docs",
     "The documents that help and messages name as docs/NAME.md, where nopscope is installed as a "
     "package."},
};

constexpr ManualRow pages[] = {
    {"",
     "nopscope-record(1) nopscope-report(1) nopscope-top(1) nopscope-serve(1) gdb-multiarch(1) "
     "openocd(1) qemu-system-aarch64(1)"},
    {"record",
     "nopscope-report(1) nopscope-top(1) nopscope-serve(1) nopscope-ctl(1) nopscope-doctor(1) "
     "gdb-multiarch(1) openocd(1)"},
    {"top", "nopscope-record(1) nopscope-serve(1) nopscope-ctl(1)"},
    {"ctl", "nopscope-record(1) nopscope-top(1) nopscope-events(1)"},
    {"report",
     "nopscope-record(1) nopscope-graph(1) nopscope-html(1) nopscope-diff(1) nopscope-query(1)"},
    {"graph", "nopscope-report(1) nopscope-callers(1) nopscope-callees(1) nopscope-html(1)"},
    {"html", "nopscope-report(1) nopscope-serve(1) nopscope-export(1)"},
    {"serve", "nopscope-html(1) nopscope-top(1) nopscope-record(1) nopscope-ctl(1)"},
    {"export",
     "nopscope-report(1) nopscope-query(1) babeltrace2(1) callgrind_annotate(1) sqlite3(1) "
     "trace-cmd(1) uftrace(1)"},
    {"diff", "nopscope-report(1) nopscope-html(1)"},
    {"query", "nopscope-report(1) nopscope-export(1) sqlite3(1)"},
    {"info", "nopscope-check(1) nopscope-report(1) readelf(1)"},
    {"check", "nopscope-info(1) nopscope-names(1) objdump(1)"},
    {"names", "nopscope-check(1) ld(1)"},
    {"events", "nopscope-record(1) nopscope-ctl(1)"},
    {"doctor", "nopscope-record(1) gdb-multiarch(1) openocd(1)"},
    {"callers", "nopscope-callees(1) nopscope-graph(1) nopscope-report(1)"},
    {"callees", "nopscope-callers(1) nopscope-graph(1) nopscope-report(1)"},
    {"latency", "nopscope-outliers(1) nopscope-report(1)"},
    {"outliers", "nopscope-latency(1) nopscope-report(1)"},
    {"irq", "nopscope-latency(1) nopscope-report(1)"},
    {"stack-depth", "nopscope-graph(1) nopscope-report(1)"},
    {"help", "man(1)"},
};

// The pages to read after a command's, separated by blanks. An empty `command` means nopscope
// itself.
std::string_view related_pages(std::string_view command) {
    const auto* const found =
        std::find_if(std::begin(pages), std::end(pages),
                     [&](const ManualRow& row) { return row.name == command; });
    return found == std::end(pages) ? "" : found->text;
}

// Whether the page of `command` has the row. If `command` is empty: true, for nopscope's page.
bool is_about(const ManualRow& row, std::string_view command) {
    return command.empty() || row.commands.empty() ||
           fmt::format(" {} ", row.commands).find(fmt::format(" {} ", command)) !=
               std::string::npos;
}

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
    out += table("EXIT STATUS", codes, about) + table("ENVIRONMENT", variables, about) +
           table("FILES", paths, about);
    out += ".SH SEE ALSO\n.nh\n.ad l\n" + page_list((command != nullptr ? "nopscope(1) " : "") +
                                                    std::string(related_pages(about)));
    return out;
}

std::string exit_codes_help() {
    constexpr std::size_t columns = 96;
    std::string text = "Exit codes:";
    for (const ManualRow& row : codes)
        text += fmt::format("{} {} {}", row.name == "0" ? "" : ";", row.name, row.text);
    text += ". Details: docs/cli.md.";
    std::string out, line;
    std::istringstream words(text);
    for (std::string word; words >> word;) {
        if (line.size() + 1 + word.size() > columns) {
            out += line + "\n";
            line.clear();
        }
        line += (line.empty() ? "" : " ") + word;
    }
    return out + line;
}

}  // namespace nopscope::host
