// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "host-tools/analysis/report/json.hpp"
#include "host-tools/analysis/report/report.hpp"
#include "host-tools/base/text.hpp"

namespace nopscope::host {

Json json_integrity(const Integrity& integrity) {
    Json json;
    for (const IntegrityItem& item : integrity.items) json[item.name] = item.value;
    json["generated_is"] = integrity.at_least ? "at least" : "exact";
    json["complete"] = integrity.complete;
    json["clean"] = integrity.clean;
    return json;
}

Json json_image(const Report& report) {
    Json json;
    json["build_id"] = report.build_id;
    json["name"] = to_utf8(report.image);
    json["board"] = to_utf8(report.board);
    return json;
}

Json json_overhead(const Report& report) {
    Json json;
    json["clock"] = clock_name(report);
    json["calibrated"] = report.calibrated;
    json["subtracted_ns"] = report.subtracted_ns;
    json["below_zero_ns"] = report.below_zero_ns;
    if (!report.calibrated) return json;
    json["landing_pad_ns"] = overhead_ns(report.landing_pad, report.clock_hz);
    for (std::size_t n = 0; n < report.overheads.size(); ++n) {
        const protocol::Overhead& one = report.overheads[n];
        json[recorder_name(n)] = {{"inside_ns", overhead_ns(one.inside, report.clock_hz)},
                                  {"outside_ns", overhead_ns(one.outside, report.clock_hz)}};
    }
    return json;
}

Json json_columns(std::initializer_list<const char*> names) {
    Json json;
    for (const char* name : names) json[name] = Json::array();
    return json;
}

std::string json_string(std::string_view bytes) {
    return Json(std::string(bytes)).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string json_text(const Json& json) {
    return json.dump(1, ' ', true, Json::error_handler_t::replace) + "\n";
}

Json json_place(const FunctionPlace& place) {
    return {{"name", to_utf8(place.name)},
            {"address", hex_address(place.address)},
            {"file", to_utf8(place.file)},
            {"line", place.line}};
}

Json json_masked(const Report& report) {
    Json list = Json::array();
    for (const MaskedRow& row : report.masked) {
        Json one{{"length_ns", row.length_ns},
                 {"at_ns", row.at_ns},
                 {"core", row.core},
                 {"session", row.session}};
        one.update(json_place(row));
        list.push_back(std::move(one));
    }
    return list;
}

namespace {

// The part that the rows of the trace and those of the profile share.
Json json_sums(Json json, const TimedRow& row) {
    json.update({{"calls", row.calls},
                 {"total_ns", row.total_ns},
                 {"self_ns", row.self_ns},
                 {"corrected_total_ns", row.corrected_total_ns},
                 {"corrected_self_ns", row.corrected_self_ns}});
    return json;
}

// Times of single calls as recorded, and corrected; null: no call was recorded from begin to end.
void json_call(Json& json, const TimedRow& row) {
    const auto put = [&](const char* prefix, const std::optional<CallTimes>& of) {
        const auto number = [&](std::uint64_t CallTimes::*part) {
            return of ? Json((*of).*part) : Json(nullptr);
        };
        json[std::string(prefix) + "min_ns"] = number(&CallTimes::min_ns);
        json[std::string(prefix) + "mean_ns"] = number(&CallTimes::mean_ns);
        json[std::string(prefix) + "max_ns"] = number(&CallTimes::max_ns);
    };
    put("", row.call);
    put("corrected_", row.corrected_call);
}

// The number of a core; null: the calls are of the target's profile, which has all cores.
Json json_core(const std::string& group) {
    return Json::accept(group) ? Json::parse(group) : Json(nullptr);
}

}  // namespace

Json json_longest(const std::optional<Longest>& call) {
    if (!call) return nullptr;
    return {{"end_ns", call->end_ns}, {"core", call->core}, {"context", call->context}};
}

std::string json_report(const Report& report) {
    Json json;
    json["image"] = json_image(report);
    json["clock_hz"] = report.clock_hz;
    json["cores"] = report.cores;
    if (!report.part.empty()) json["part"] = to_utf8(report.part);
    if (!report.damage.empty()) json["damage"] = report.damage;
    json["on_cpu"] = report.on_cpu;
    json["duration_ns"] = report.duration_ns;
    json["tracer_ns"] = report.tracer_ns;
    json["sessions"] = report.sessions;
    json["lossless"] = report.lossless;
    json["flight"] = report.flight;
    json_target(json, report);
    json["integrity"] = json_integrity(report.integrity);
    json["overhead"] = json_overhead(report);
    json["loss"] = json_loss(report);
    if (report.others.any()) json["others"] = json_others(report);
    Json& missing = json["gaps_list"] = Json::array();
    for (const MissingRow& row : report.missing) {
        missing.push_back({{"session", row.session},
                           {"core", row.core},
                           {"from_ns", row.from_ns},
                           {"to_ns", row.to_ns},
                           {"lost", row.lost},
                           {"overwritten", row.overwritten},
                           {"dropped", row.dropped}});
    }
    json_contexts(json, report);
    Json& functions = json["functions"] = Json::array();
    Json interrupts = Json::array();
    for (const FunctionRow& row : report.functions) {
        Json one =
            json_sums(row.interrupt ? Json{{"interrupt", *row.interrupt}} : json_place(row), row);
        one.update({{"cpu_ns", row.cpu_ns},
                    {"corrected_cpu_ns", row.corrected_cpu_ns},
                    {"timed", row.timed},
                    {"share", row.share},
                    {"open", row.open},
                    {"lost", row.lost},
                    {"unwound", row.unwound},
                    {"incomplete", row.incomplete},
                    {"cut", row.cut},
                    {"dropped", row.dropped},
                    {"doubtful", is_doubtful(row)}});
        if (report.split == SplitBy::task) one["task"] = to_utf8(report.groups[row.group]);
        if (report.split == SplitBy::core) one["core"] = json_core(report.groups[row.group]);
        json_call(one, row);
        one["longest"] = json_longest(row.longest);
        if (report.adaptive && !row.interrupt) one["profiled"] = row.profiled;
        (row.interrupt ? interrupts : functions).push_back(std::move(one));
    }
    if (!interrupts.empty()) json["interrupts"] = std::move(interrupts);
    if (!report.masked.empty()) json["masked"] = json_masked(report);
    if (report.adaptive) {
        json["adaptive"] = {{"moves", report.moves}, {"moved", Json::array()}};
        for (const MoveRow& row : report.moved) {
            json["adaptive"]["moved"].push_back({{"name", to_utf8(row.name)},
                                                 {"address", hex_address(row.address)},
                                                 {"to", row.to_profile ? "profile" : "trace"},
                                                 {"at_ns", row.at_ns},
                                                 {"session", row.session}});
        }
    }
    json_captured(json, report);
    json_samples(json, report);
    // If all profile frames are lost, its events may still be there.
    if (report.read_out != 0 || !report.profile_events.columns.empty()) {
        json["profile"] = {{"read_out", report.read_out}, {"functions", Json::array()}};
    }
    for (const ProfileRow& row : report.profile) {
        Json bins = Json::array();
        for (std::size_t n = 0; n < row.bins.size(); ++n) {
            if (row.bins[n] != 0) bins.push_back({n, row.bins[n]});
        }
        Json one = json_sums(json_place(row), row);
        one.update({{"p50_ns", row.percentiles_ns[0]},
                    {"p99_ns", row.percentiles_ns[1]},
                    {"corrected_p50_ns", row.corrected_percentiles_ns[0]},
                    {"corrected_p99_ns", row.corrected_percentiles_ns[1]},
                    {"share", row.share},
                    {"doubtful", row.doubtful},
                    {"bins", std::move(bins)}});
        json_call(one, row);
        json["profile"]["functions"].push_back(std::move(one));
    }
    json_events(json, report);
    return json_text(json);
}

}  // namespace nopscope::host
