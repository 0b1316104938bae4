// SPDX-License-Identifier: Apache-2.0
#include "host-tools/views/top/once.hpp"

#include <chrono>

#include "host-tools/base/text.hpp"
#include "host-tools/views/json/report.hpp"

namespace nopscope::host::top {
namespace {

Json json_cores(const LiveView& view, const Rates& rates) {
    Json cores = Json::array();
    for (std::size_t i = 0; i < view.status.cores.size(); ++i) {
        const CoreStatus& core = view.status.cores[i];
        const CoreRates of = i < rates.cores.size() ? rates.cores[i] : CoreRates{};
        cores.push_back({{"core", core.number},
                         {"busy", or_null(of.busy)},
                         {"records_per_second", of.records},
                         {"records", core.records},
                         {"dropped", core.dropped},
                         {"overwritten", core.overwritten},
                         {"lost", core.lost}});
    }
    return cores;
}

}  // namespace

std::string json_once(const std::vector<FunctionLine>& lines, const LiveView& view,
                      const Rates& rates, std::size_t top_lines) {
    const LiveStatus& status = view.status;
    const std::chrono::duration<double> age = status.at - status.begin.at;
    Json json{{"state", name_of(status.state)},
              {"sentence", to_utf8(status.sentence)},
              {"note", to_utf8(status.note)},
              {"from", to_utf8(status.from)},
              {"resets", status.resets},
              {"losses", status.losses},
              {"seconds", rates.seconds},
              {"figures",
               {{"part", status.part},
                {"request", to_utf8(status.begin.request)},
                {"seconds", age.count()}}},
              {"bytes_per_second", rates.bytes},
              {"line_share", or_null(rates.line_share)},
              {"records_per_second", rates.records},
              {"dropped_per_second", rates.dropped},
              {"cores", json_cores(view, rates)}};
    if (view.report) {
        json["image"] = json_image(*view.report);
        json["duration_ns"] = view.report->duration_ns;
        json["sessions"] = view.report->sessions;
        json_target(json, *view.report);
        json["integrity"] = json_integrity(view.report->integrity);
        json["loss"] = json_loss(*view.report);
    }
    Json functions = Json::array();
    Json interrupts = Json::array();
    std::size_t listed = 0;
    for (const FunctionLine& line : lines) {
        if (top_lines != 0 && listed++ == top_lines) break;
        Json function = line.place.interrupt ? Json{{"interrupt", *line.place.interrupt}}
                                             : json_place(line.place);
        function.update({{"now", line.now},
                         {"calls_per_second", line.calls_per_second},
                         {"calls", line.calls},
                         {"self_ns", line.self_ns},
                         {"total_ns", line.total_ns},
                         {"doubtful", line.doubtful},
                         {"share", line.share},
                         {"p50_ns", or_null(line.p50_ns)},
                         {"p99_ns", or_null(line.p99_ns)},
                         {"open", line.open}});
        (line.place.interrupt ? interrupts : functions).push_back(std::move(function));
    }
    json["functions"] = std::move(functions);
    if (!interrupts.empty()) json["interrupts"] = std::move(interrupts);
    if (view.report && view.report->has_tasks()) {
        json["tasks"] = json_tasks(task_table(*view.report, *view.profile))["tasks"];
        for (Json& task : json["tasks"]) {
            const auto now = rates.tasks.find(task["name"].get<std::string>());
            task["now"] = now != rates.tasks.end() ? now->second : 0.0;
        }
    }
    json["console"] = to_utf8(status.console);
    return json_text(json);
}

}  // namespace nopscope::host::top
