// SPDX-License-Identifier: Apache-2.0
#include "host-tools/views/text/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <vector>

#include "host-tools/base/text.hpp"
#include "host-tools/views/text/head.hpp"
#include "host-tools/views/text/table.hpp"
#include "host-tools/views/text/tables.hpp"

namespace nopscope::host {
namespace {

std::string cell_of(const std::optional<CallTimes>& of, std::uint64_t CallTimes::*part) {
    return of ? human_ns((*of).*part) : "-";
}

std::string notes(const FunctionRow& row) {
    std::string text;
    add_count(text, row.open, "open");
    add_count(text, row.unwound, "unwound");
    add_count(text, row.lost, "lost");
    add_count(text, row.incomplete, "incomplete");
    add_count(text, row.cut, "cut");
    add_count(text, row.profiled, "in the profile");
    return text.empty() ? text : "  [" + text + "]";
}

// The worst missing parts, and the meaning of the marks.
std::string missing_lines(const Report& report) {
    if (report.missing.empty()) return {};
    constexpr std::size_t shown = 5;
    std::vector<MissingRow> worst = report.missing;
    std::stable_sort(worst.begin(), worst.end(),
                     [](const MissingRow& a, const MissingRow& b) { return a.all() > b.all(); });
    std::string out = "missing";
    if (worst.size() > shown) out += fmt::format(", the worst {} of {}", shown, worst.size());
    out += ":\n";
    for (const MissingRow& row : std::span(worst).first(std::min(shown, worst.size()))) {
        std::string what;
        add_count(what, row.lost, "lost on the line");
        add_count(what, row.overwritten, "overwritten");
        add_count(what, row.dropped, "dropped");
        out += fmt::format(
            "  core {}, {} to {}{}: {}\n", row.core, human_ns(row.from_ns), human_ns(row.to_ns),
            report.sessions > 1 ? fmt::format(" of session {}", row.session + 1) : "", what);
    }
    if (std::any_of(report.functions.begin(), report.functions.end(), is_doubtful)) {
        out +=
            "  ~ marks figures of calls that were open across a gap in the records, and self times "
            "of calls that were\n"
            "    open while records were dropped: a dropped call's time is in its caller's self "
            "time\n";
    }
    return out + "\n";
}

std::string function_table(const Report& report) {
    std::vector<Line> lines;
    // replay --around takes these times.
    const bool says_when = report.sort == SortKey::max;
    const bool has_cpu = shows_cpu(report);
    const auto add = [&](Line line, const std::string& cpu, const std::string& when,
                         const std::string& group) {
        if (has_cpu) line.insert(line.begin() + 2, cpu);
        if (says_when) line.insert(line.end() - 2, when);
        if (report.split != SplitBy::nothing) line.insert(line.end() - 2, group);
        lines.push_back(std::move(line));
    };
    add({"calls", report.on_cpu ? "on CPU" : "total", "self", "share", "min", "max", "function",
         "defined at"},
        "on CPU", "longest ended at", report.split == SplitBy::core ? "core" : "task");
    for (const FunctionRow& row : report.functions) {
        const char* const mark = has_gaps(row) ? "~" : "";
        const RowTimes& times = row.shown(report.raw);
        add({with_commas(row.calls), mark + human_ns(times.total_ns),
             (is_doubtful(row) ? "~" : "") + human_ns(times.self_ns),
             fmt::format("{:.1f} %", row.share * 100), cell_of(times.call, &CallTimes::min_ns),
             cell_of(times.call, &CallTimes::max_ns), for_cell(row.name) + notes(row),
             short_place(row)},
            mark + human_ns(times.cpu_ns), row.longest ? longest_text(*row.longest) : "-",
            for_cell(report.groups[row.group]));
    }
    return table(lines);
}

std::string profile_table(const Report& report) {
    std::vector<Line> lines{{"calls", "total", "self", "share", "min", "mean",
                             "p50 <=", "p99 <=", "max", "function", "defined at"}};
    for (const ProfileRow& row : report.profile) {
        const RowTimes& times = row.shown(report.raw);
        const auto [p50, p99] = row.percentiles(report.raw);
        lines.push_back(
            {with_commas(row.calls), human_ns(times.total_ns),
             (row.doubtful ? "~" : "") + human_ns(times.self_ns),
             fmt::format("{:.1f} %", row.share * 100), cell_of(times.call, &CallTimes::min_ns),
             cell_of(times.call, &CallTimes::mean_ns), human_ns(p50), human_ns(p99),
             cell_of(times.call, &CallTimes::max_ns), for_cell(row.name), short_place(row)});
    }
    return fmt::format("profile, read-out {}; p50 and p99 are upper ends of powers of two ticks\n",
                       report.read_out) +
           table(lines);
}

}  // namespace

std::string text_report(const Report& report) {
    std::string out;
    auto to = std::back_inserter(out);
    fmt::format_to(to, "{} on {}, {} core{}, clock {}{:.3f} MHz, build-id {}\n",
                   report.image.empty() ? "image" : for_cell(report.image),
                   report.board.empty() ? "an unnamed board" : for_cell(report.board), report.cores,
                   report.cores == 1 ? "" : "s",
                   report.clock == protocol::Clock::timer
                       ? std::string()
                       : fmt::format("{} at ", clock_name(report)),
                   static_cast<double>(report.clock_hz) / 1e6,
                   report.build_id.empty() ? "(none)" : to_hex(report.build_id));
    out += others_line(report);
    out += loss_line(report);
    fmt::format_to(to, "{}; {}{}\n", recorded_text(report), mode_text(report),
                   report.sessions > 1
                       ? fmt::format("; the target was reset {} time{}", report.sessions - 1,
                                     report.sessions == 2 ? "" : "s")
                       : std::string());
    for (const HeadLine& line : head_lines(report))
        out += fmt::format("{}: {}\n", line.name, line.text);
    out += overhead_line(report) + "\n";
    const bool only_others = report.read_out != 0 || report.samples.count != 0;
    if (!report.functions.empty() || !only_others) out += function_table(report) + "\n";
    if (report.adaptive) {
        out += fmt::format(
            "{} moves between trace and profile; what a traced function's callees spent in the "
            "profile is in its self time, too\n\n",
            with_commas(report.moves));
    } else if (report.read_out != 0) {
        out += profile_table(report) + "\n";
    }
    out += text_events(report) + text_samples(report) + text_captured(report) + text_marks(report);
    return out + missing_lines(report) + integrity_line(report.integrity) + "\n";
}

}  // namespace nopscope::host
