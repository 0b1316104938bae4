// SPDX-License-Identifier: Apache-2.0
// The head of a report: the target's own statements, and the data that is missing because of them.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "host-tools/analysis/report/json.hpp"
#include "host-tools/analysis/report/report.hpp"
#include "host-tools/analysis/report/table.hpp"
#include "host-tools/base/text.hpp"
#include "host-tools/image/arch/arch.hpp"

namespace nopscope::host {
namespace {

constexpr std::string_view no_recorder = "no recorder";

std::string in_force_text(const InForceChange& change) {
    std::string text;
    for (std::size_t n = 0; n < protocol::overhead_count; ++n) {
        if ((change.recorders >> n & 1) == 0) continue;
        text += fmt::format("{}{}", text.empty() ? "" : " and ", recorder_name(n));
    }
    if (text.empty()) text = no_recorder;
    return text + ", " +
           (change.mode < std::size(protocol::mode_names) ? protocol::mode_names[change.mode]
                                                          : "an unknown mode");
}

// The functions that the last session moved to the profile, and that were not read since then.
std::vector<std::string> not_read_since(const Report& report, const ProfileReading& reading) {
    std::map<std::uint64_t, const MoveRow*> last;
    for (const MoveRow& row : report.moved) {
        if (row.session == reading.session) last[row.address] = &row;
    }
    std::vector<std::string> names;
    for (const auto& [address, row] : last) {
        const bool read = report.target.read_ns && row->at_ns <= *report.target.read_ns;
        if (row->to_profile && !read) names.push_back(row->name);
    }
    std::sort(names.begin(), names.end());
    return names;
}

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

std::string list_of(const std::vector<std::string>& names) {
    constexpr std::size_t shown = 8;
    std::string text;
    for (std::size_t i = 0; i < std::min(shown, names.size()); ++i)
        text += (i != 0 ? ", " : "") + for_cell(names[i]);
    if (names.size() > shown) text += fmt::format(" and {} more", names.size() - shown);
    return text;
}

// Leaves out rows before a session's first recorder and after its last one: nothing is recorded.
std::vector<TargetRow> rows_of_recording(const std::vector<TargetRow>& rows) {
    const auto records = [](const TargetRow& row) {
        return !row.in_force.starts_with(no_recorder);
    };
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

std::string old_mode_text(const Report& report) {
    if (report.adaptive) return "adaptive";
    if (report.lossless) return "lossless";
    return report.flight ? "flight" : "stream";
}

}  // namespace

void add_target(Report& report, const Profile& profile) {
    const TargetState& state = profile.state();
    const HelloInfo& hello = *profile.hello();
    const auto ns = [&](std::uint64_t ticks) { return ticks_to_ns(ticks, hello.clock_hz); };
    TargetFacts& target = report.target;
    target.known = state.is_known();
    for (const InForceChange& change : state.changes()) {
        target.in_force.push_back({in_force_text(change), ns(change.ticks), change.session});
    }
    if (state.stopped_ticks()) target.stopped_ns = ns(*state.stopped_ticks());
    target.keeps_profile = state.reading().kept;
    if (state.reading().ticks) target.read_ns = ns(*state.reading().ticks);
    target.recursions = state.recursions();
    target.sites = hello.site_count;
    target.refused = hello.refused_sites;
    target.only_there = not_read_since(report, state.reading());
}

double overhead_ns(std::int32_t fixed, std::uint64_t clock_hz) {
    return fixed * 1e9 / (static_cast<double>(clock_hz) * protocol::overhead_unit);
}
const char* clock_name(const Report& report) {
    return arch_of(report.architecture).clock_name(report.clock);
}
const char* recorder_name(std::size_t index) { return protocol::recorder_names[index + 1]; }

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
    if (rows.empty()) return old_mode_text(report);
    std::string text = rows.front().in_force;
    for (std::size_t i = 1; i < rows.size(); ++i) {
        constexpr std::size_t shown = 4;
        if (i == shown) {
            return text + fmt::format("; and {} more changes, at last {}", rows.size() - shown,
                                      rows.back().in_force);
        }
        const bool is_reset = rows[i].session != rows[i - 1].session;
        if (is_reset && rows[i].in_force == rows[i - 1].in_force) continue;
        text += is_reset ? fmt::format("; in session {} {}", rows[i].session + 1, rows[i].in_force)
                         : fmt::format(" until {}; then {}", human_ns(rows[i].from_ns),
                                       rows[i].in_force);
    }
    if (report.target.stopped_ns)
        text += fmt::format("; stopped at {}", human_ns(*report.target.stopped_ns));
    return text;
}

std::vector<std::string> shortcomings(const HelloInfo& hello) {
    std::vector<std::string> sentences;
    if (std::string text = refused_text(hello.refused_sites, hello.site_count); !text.empty()) {
        sentences.push_back(std::move(text));
    }
    if (hello.build_id.empty()) {
        sentences.push_back(fmt::format("the image has no build-id, so {}", without_build_id));
    }
    return sentences;
}

std::vector<HeadLine> head_lines(const Report& report) {
    const TargetFacts& target = report.target;
    std::vector<HeadLine> lines;
    if (!report.part.empty()) lines.push_back({"part", report.part, false});
    if (!report.damage.empty()) lines.push_back({"the line", report.damage, true});
    if (report.on_cpu)
        lines.push_back({"times of calls", "on the CPU, only while their tasks ran", false});
    if (std::string text = refused_text(target.refused, target.sites); !text.empty())
        lines.push_back({"refused", std::move(text), true});
    if (report.build_id.empty()) {
        lines.push_back({"build-id", fmt::format("none, so {}", without_build_id), true});
    }
    if (target.read_ns) {
        lines.push_back({"profile read", "last at " + human_ns(*target.read_ns), false});
    } else if (target.keeps_profile) {
        lines.push_back(
            {"profile read", "never: calls that the target has only counted are missing", true});
    }
    if (!target.only_there.empty()) {
        lines.push_back({"on the target only",
                         fmt::format("calls, since they were moved to the profile, of {}",
                                     list_of(target.only_there)),
                         true});
    }
    if (target.recursions != 0) {
        lines.push_back(
            {"left out",
             fmt::format("{} callbacks and captures, which came from inside another one",
                         with_commas(target.recursions)),
             true});
    }
    return lines;
}

void json_target(Json& json, const Report& report) {
    const TargetFacts& target = report.target;
    if (!target.known && !target.refused.known) return;
    Json in_force = Json::array();
    for (const TargetRow& row : target.in_force) {
        in_force.push_back(
            {{"what", row.in_force}, {"from_ns", row.from_ns}, {"session", row.session}});
    }
    Json only_there = Json::array();
    for (const std::string& name : target.only_there) only_there.push_back(to_utf8(name));
    json["target"] = {{"in_force", std::move(in_force)},
                      {"stopped_ns", or_null(target.stopped_ns)},
                      {"keeps_profile", target.keeps_profile},
                      {"profile_read_ns", or_null(target.read_ns)},
                      {"on_target_only", std::move(only_there)},
                      {"recursions", target.recursions},
                      {"refused_sites",
                       {{"misaligned", target.refused.misaligned},
                        {"outside", target.refused.outside},
                        {"words", target.refused.words}}}};
}

}  // namespace nopscope::host
