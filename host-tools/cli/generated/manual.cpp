// SPDX-License-Identifier: Apache-2.0
#include "host-tools/cli/generated/manual.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace nopscope::host {
namespace {

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

}  // namespace

std::span<const ManualRow> exit_codes() { return codes; }
std::span<const ManualRow> environment() { return variables; }
std::span<const ManualRow> files() { return paths; }

std::string_view related_pages(std::string_view command) {
    const auto* const found =
        std::find_if(std::begin(pages), std::end(pages),
                     [&](const ManualRow& row) { return row.name == command; });
    return found == std::end(pages) ? "" : found->text;
}

bool is_about(const ManualRow& row, std::string_view command) {
    return command.empty() || row.commands.empty() ||
           fmt::format(" {} ", row.commands).find(fmt::format(" {} ", command)) !=
               std::string::npos;
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
