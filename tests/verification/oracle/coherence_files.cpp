// SPDX-License-Identifier: Apache-2.0
#include "tests/verification/oracle/coherence_files.hpp"

#include "tests/verification/oracle/plugin.hpp"

namespace coherence {

using plugin::Json;

bool write_result(const std::string& path, const Model& model, const std::string& unknown) {
    const Events& events = model.events;
    std::uint64_t most_cleans = 0, most_invalidates = 0;
    for (const auto& [address, line] : model.lines) {
        most_cleans = std::max(most_cleans, line.cleans);
        most_invalidates = std::max(most_invalidates, line.invalidates);
    }
    unsigned seen = 0;
    for (const Core& core : model.cores) seen += core.barrier != 0;
    const Caches& caches = model.caches();
    const Json::Members needs = {{"clean", caches.clean},
                                 {"invalidate", caches.invalidate},
                                 {"dcache_line_bytes", caches.dcache_line_bytes},
                                 {"icache_line_bytes", caches.icache_line_bytes}};
    const Json::Members figures = {
        {"requests", events.requests},
        {"word_stores", events.word_stores},
        {"stores_outside_requests", events.outside_requests},
        {"slot_stores", events.slot_stores},
        {"slot_reads", events.slot_reads},
        {"uses", events.uses},
        {"uses_ended", events.uses_ended},
        {"cleans", events.cleans},
        {"needless_cleans", events.needless_cleans},
        {"most_cleans_of_a_line", most_cleans},
        {"invalidates", events.invalidates},
        {"needless_invalidates", events.needless_invalidates},
        {"early_invalidates", events.early_invalidates},
        {"most_invalidates_of_a_line", most_invalidates},
        {"maintenance_elsewhere", events.elsewhere},
        {"barriers", events.barriers},
        {"weaker_barriers", events.weaker_barriers},
        {"isbs", events.isbs},
        {"exceptions", events.exceptions},
        {"erets", events.erets},
        {"executions", events.executions.load()},
        {"executions_meanwhile", events.meanwhile.load()},
        {"executions_checked", events.checked.load()},
    };
    std::vector<Json> lines, faults;
    for (const auto& [address, line] : model.lines) {
        if (line.cleans == 0 && line.invalidates == 0) continue;
        lines.push_back(std::vector<Json>{hex(address), line.cleans, line.invalidates});
    }
    for (const Fault& fault : model.faults) {
        faults.push_back(Json::Members{{"kind", std::string(fault.kind)},
                                       {"core", fault.core},
                                       {"address", hex(fault.address)},
                                       {"times", fault.times},
                                       {"sentence", fault.sentence}});
    }
    const Json::Members all = {{"unknown", unknown}, {"cores", seen},  {"needs", needs},
                               {"events", figures},  {"lines", lines}, {"faults", faults}};
    return Json(all).write(path);
}

}  // namespace coherence
