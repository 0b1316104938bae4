// SPDX-License-Identifier: Apache-2.0
#include "host-tools/views/text/head.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "host-tools/base/memory.hpp"
#include "host-tools/base/text.hpp"
#include "host-tools/image/arch/arch.hpp"

namespace nopscope::host {
namespace {

// Empty if no site was refused.
std::string refused_text(const protocol::RefusedSites& refused, std::uint32_t sites) {
    std::string why;
    add_count(why, refused.misaligned, "not 8-byte aligned");
    add_count(why, refused.outside, "outside of the text");
    add_count(why, refused.words, "not the words of a patch site");
    if (why.empty()) return {};
    const std::uint64_t all = std::uint64_t{refused.misaligned} + refused.outside + refused.words;
    return fmt::format("{} of {} functions with a patch site cannot be traced: {}",
                       with_commas(all), with_commas(sites), why);
}

// A bit for each recorder in force that has a name here.
std::uint64_t known_recorders(const TargetRow& row) {
    return row.recorders & ((std::uint64_t{1} << protocol::overhead_count) - 1);
}

// Leaves out rows before a session's first recorder and after its last one: nothing is recorded.
std::vector<TargetRow> rows_of_recording(const std::vector<TargetRow>& rows) {
    const auto records = [](const TargetRow& row) { return known_recorders(row) != 0; };
    std::vector<TargetRow> shown;
    for (auto at = rows.begin(); at != rows.end();) {
        const auto end = std::find_if(
            at, rows.end(), [&](const TargetRow& row) { return row.session != at->session; });
        const auto first = std::find_if(at, end, records);
        const auto last =
            std::find_if(std::reverse_iterator(end), std::reverse_iterator(first), records);
        shown.insert(shown.end(), first, last.base());
        at = end;
    }
    return shown.empty() ? rows : shown;
}

std::string listed(const std::vector<std::string>& parts) {
    std::string text;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        text += (i == 0 ? "" : i + 1 == parts.size() ? " or " : ", ") + parts[i];
    }
    return text;
}

}  // namespace

double overhead_ns(std::int32_t fixed, std::uint64_t clock_hz) {
    return fixed * 1e9 / (static_cast<double>(clock_hz) * protocol::overhead_unit);
}
const char* clock_name(const Report& report) {
    return arch_of(report.architecture).clock_name(report.clock);
}
const char* recorder_name(std::size_t index) { return protocol::recorder_names[index + 1]; }

std::string in_force_text(const TargetRow& row) {
    std::vector<std::string_view> recorders;
    for (std::size_t n = 0; n < protocol::overhead_count; ++n) {
        if ((row.recorders >> n & 1) != 0) recorders.emplace_back(recorder_name(n));
    }
    if (recorders.empty()) recorders.emplace_back("no recorder");
    return fmt::format("{}, {}", fmt::join(recorders, " and "),
                       row.mode < std::size(protocol::mode_names) ? protocol::mode_names[row.mode]
                                                                  : "an unknown mode");
}

std::string recorded_text(const Report& report) {
    std::string text = human_ns(report.duration_ns) + " recorded";
    if (report.tracer_ns == 0) return text;
    const std::string tracer = human_ns(report.tracer_ns);
    if (report.cores > 1)
        return text + fmt::format(", {} of the tracer on all cores together", tracer);
    const std::string program =
        human_ns(report.duration_ns - std::min(report.tracer_ns, report.duration_ns));
    if (report.lossless) {
        return fmt::format(
            "{} of the program recorded; it stood still for {} while the tracer sent", program,
            tracer);
    }
    return text + fmt::format(": {} of the program, {} of the tracer", program, tracer);
}

std::string mode_text(const Report& report) {
    const std::vector<TargetRow> rows = rows_of_recording(report.target.in_force);
    if (rows.empty()) {
        if (report.adaptive) return "adaptive";
        return report.lossless ? "lossless" : report.flight ? "flight" : "stream";
    }
    std::string text = in_force_text(rows.front());
    for (std::size_t i = 1; i < rows.size(); ++i) {
        constexpr std::size_t shown = 4;
        if (i == shown) {
            return text + fmt::format("; and {} more changes, at last {}", rows.size() - shown,
                                      in_force_text(rows.back()));
        }
        const bool is_reset = rows[i].session != rows[i - 1].session;
        const std::string now = in_force_text(rows[i]);
        if (is_reset && now == in_force_text(rows[i - 1])) continue;
        text += is_reset ? fmt::format("; in session {} {}", rows[i].session + 1, now)
                         : fmt::format(" until {}; then {}", human_ns(rows[i].from_ns), now);
    }
    if (report.target.stopped_ns)
        text += fmt::format("; stopped at {}", human_ns(*report.target.stopped_ns));
    return text;
}

std::vector<std::string> shortcomings(const HelloInfo& hello) {
    std::vector<std::string> sentences{refused_text(hello.refused_sites, hello.site_count)};
    if (sentences[0].empty()) sentences.clear();
    if (hello.build_id.empty())
        sentences.push_back(fmt::format("the image has no build-id, so {}", without_build_id));
    return sentences;
}

std::vector<HeadLine> head_lines(const Report& report) {
    const TargetFacts& target = report.target;
    std::vector<HeadLine> lines;
    const auto add = [&](bool is_news, const char* name, std::string text, bool spoils) {
        if (is_news) lines.push_back({name, std::move(text), spoils});
    };
    const std::string refused = refused_text(report.refused_sites, report.site_count);
    add(!report.part.empty(), "part", report.part, false);
    add(!report.damage.empty(), "the line", report.damage, true);
    add(report.on_cpu, "times of calls", "on the CPU, only while their tasks ran", false);
    add(!refused.empty(), "refused", refused, true);
    add(report.build_id.empty(), "build-id", fmt::format("none, so {}", without_build_id), true);
    add(target.read_ns.has_value(), "profile read",
        "last at " + human_ns(target.read_ns.value_or(0)), false);
    add(!target.read_ns && target.keeps_profile, "profile read",
        "never: calls that the target has only counted are missing", true);
    add(!target.only_there.empty(), "on the target only",
        "calls, since they were moved to the profile, of " + some_of(target.only_there, 8), true);
    add(target.recursions != 0, "left out",
        with_commas(target.recursions) +
            " callbacks and captures, which came from inside another one",
        true);
    return lines;
}

std::string integrity_line(const Integrity& integrity) {
    constexpr std::size_t summands = 7;  // items: generated and its summands
    const auto& items = integrity.items;
    const auto item = [&](std::size_t i) {
        return fmt::format("{} {}", items[i].name, items[i].value);
    };
    std::string line = fmt::format("integrity: {}{} {} = {}", items[0].name,
                                   integrity.at_least ? " at least" : "", items[0].value, item(1));
    for (std::size_t i = 2; i < summands; ++i) {
        const bool always = items[i].name == std::string_view("dropped") ||
                            items[i].name == std::string_view("lost");
        if (always || items[i].value != 0) line += " + " + item(i);
    }
    line += fmt::format("; {}, {}", item(summands), item(summands + 1));
    for (std::size_t i = summands + 2; i < items.size(); ++i) {
        // Text before the first frame is normal at each boot. JSON has its length.
        if (items[i].value != 0 && items[i].name != std::string_view("lead_bytes"))
            line += ", " + item(i);
    }
    if (!integrity.complete) line += "; the recording ended before the target did";
    return line;
}

std::string beyond_shadow_stack(std::uint64_t calls) {
    return fmt::format("{} call{} deeper than the shadow stack", with_commas(calls),
                       calls == 1 ? "" : "s");
}

std::string loss_line(const Report& report) {
    const Loss loss = loss_of(report);
    if (!loss.any()) return {};
    std::vector<std::string> how;
    if (loss.dropped != 0) how.push_back(with_commas(loss.dropped) + " dropped by the target");
    if (loss.lost != 0) how.push_back(with_commas(loss.lost) + " lost on the line");
    const double percent = 100 * loss.share();
    std::string line = "missing: ";
    if (!how.empty())
        line += fmt::format("{} of {} records ({})",
                            percent < 0.1 ? "less than 0.1 %" : fmt::format("{:.1f} %", percent),
                            with_commas(loss.events), fmt::join(how, ", "));
    if (loss.unhooked != 0)
        line += (how.empty() ? "" : ", and ") + beyond_shadow_stack(loss.unhooked);
    if (std::any_of(report.functions.begin(), report.functions.end(), is_doubtful) ||
        (loss.unhooked != 0 && !report.profile.empty())) {
        line += "; self times marked ~ may contain calls that are missing";
    }
    return line + "; what helps: " + listed(loss.helps) + "\n";
}

std::string others_line(const Report& report) {
    const Others& others = report.others;
    if (!others.any()) return {};
    std::vector<std::string> parts;
    if (others.calls != 0) parts.push_back(with_commas(others.calls) + " calls of more functions");
    if (others.path_calls != 0)
        parts.push_back(with_commas(others.path_calls) + " calls on more paths");
    std::string line = "memory: ";
    if (!parts.empty()) line += fmt::format("{} has {}", others_name, fmt::join(parts, " and "));
    if (others.left_out != 0) {
        line += fmt::format("{}{} values, marks, gaps or counts are left out",
                            parts.empty() ? "" : "; ", with_commas(others.left_out));
    }
    return line + fmt::format("; more than --memory {}MB would keep them apart\n",
                              memory_limit() / 1'000'000);
}

std::string overhead_line(const Report& report) {
    if (!report.has_calls() && report.read_out == 0 && report.samples.count != 0) return {};
    if (!report.calibrated) {
        return "overhead: the target did not measure it; the times contain it\n";
    }
    std::string line = report.raw ? "overhead left in the times:" : "overhead removed:";
    const auto add = [&](protocol::Recorder recorder, const char* call, bool outside) {
        const protocol::Overhead& one = report.overheads[protocol::overhead_index(recorder)];
        const auto ns = [&](std::int32_t fixed) { return overhead_ns(fixed, report.clock_hz); };
        line += fmt::format(" {:.1f} ns from each {}", ns(one.inside), call);
        if (outside) line += fmt::format(" and {:.1f} ns from its caller", ns(one.outside));
        line += ",";
    };
    if (report.has_calls() || report.read_out == 0) {
        add(protocol::Recorder::graph, "traced call", true);
    }
    if (report.read_out != 0) add(protocol::Recorder::profile, "profiled call", false);
    line.pop_back();
    return line + " (measured at boot)\n";
}

}  // namespace nopscope::host
