// SPDX-License-Identifier: Apache-2.0
#include "host-tools/figures/report/make_report.hpp"

#include "host-tools/line/stream/diagnosis.hpp"
#include "host-tools/line/stream/same_image.hpp"

namespace nopscope::host {

CodeOfCalls code_of_calls(std::function<const Symbols*()> symbols) {
    return {.tail =
                [symbols](std::uint64_t caller, std::uint64_t callee) {
                    const Symbols* const known = symbols();
                    return known != nullptr ? known->tail(caller, callee) : Tail::never;
                },
            .has_no_landing_pad =
                [symbols](std::uint64_t function) {
                    const Symbols* const known = symbols();
                    return known != nullptr && has_no_landing_pad(known->find(function));
                }};
}

std::string no_report_sentence(const nsc::Counters& counters) {
    const LineCounters& line = counters.line;
    if (const auto version = counters.stream.refused_version; version != 0) {
        return refused_version_sentence(version);
    }
    if (line.bytes == 0) return counters.file.is_raw ? "the file is empty" : "nothing was recorded";
    if (line.frames == 0) return "there is no trace in it: not one frame could be read";
    return "no hello could be read, so the records in it mean nothing";
}

Result<Report> make_report(const Profile& profile, const nsc::Counters& counters,
                           const Symbols* symbols, bool raw) {
    if (!profile.hello()) return failure(no_report_sentence(counters));
    if (symbols != nullptr) {
        if (const auto sentence = mismatch(*symbols, *profile.hello())) return failure(*sentence);
    }
    Report report;
    static_cast<HelloInfo&>(report) = *profile.hello();
    report.raw = raw;
    report.on_cpu = profile.is_on_cpu();
    report.duration_ns = ticks_to_ns(profile.duration_ticks(), report.clock_hz);
    report.tracer_ns = ticks_to_ns(profile.tracer_ticks(), report.clock_hz);
    report.sessions = counters.stream.sessions;
    report.integrity = integrity_of(profile, counters, symbols);
    const Places places{*profile.hello(), symbols};
    add_missing(report, profile);
    add_contexts(report, profile);
    add_functions(report, profile, places);
    add_profile(report, profile.on_target(), places);
    add_masked(report, profile, places);
    add_captured(report, profile);
    add_marks(report, profile);
    add_samples(report, profile, places);
    add_events(report, profile, places);
    add_moves(report, profile, places);
    if (report.adaptive) join_profile(report);
    add_target(report, profile);
    return report;
}

}  // namespace nopscope::host
