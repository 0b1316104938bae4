// SPDX-License-Identifier: Apache-2.0
// Contexts, with what the target told of them, and the kernel's objects.
#include "host-tools/analysis/report/json.hpp"
#include "host-tools/analysis/report/report.hpp"
#include "host-tools/base/text.hpp"

namespace nopscope::host {
namespace {

void add_facts(Json& json, const ContextFacts& facts) {
    json.update({{"name", to_utf8(facts.name)},
                 {"priority", facts.priority},
                 {"id", facts.id},
                 {"interrupts", facts.runs_interrupts},
                 {"ended", facts.has_ended}});
    if (facts.stack_bytes == 0) return;
    json["stack"] = {{"low", hex_address(facts.stack_low)},
                     {"bytes", facts.stack_bytes},
                     {"used", facts.stack_used}};
}

Json json_left(const LeftCounts& counts) {
    const auto of = [&](protocol::Left how) { return counts[static_cast<std::size_t>(how)]; };
    return {{"preempted", of(protocol::Left::preempted)},
            {"blocked", of(protocol::Left::blocked)},
            {"gave_way", of(protocol::Left::gave_way)},
            {"ended", of(protocol::Left::ended)},
            {"unknown", of(protocol::Left::unknown)}};
}

}  // namespace

void add_contexts(Report& report, const Profile& profile) {
    const Tasks& tasks = profile.tasks();
    for (const ContextTimes& times : profile.contexts()) {
        ContextRow& row = report.contexts.emplace_back();
        static_cast<ContextTimes&>(row) = times;
        const auto* const told = tasks.find(times.session, times.core, times.context);
        if (told != nullptr) {
            row.facts = told->facts;
            row.ready = told->ready;
        }
        const auto* const left = tasks.left(times.session, times.core, times.context);
        if (left != nullptr) row.left = *left;
    }
    for (const auto& [key, object] : tasks.objects()) {
        ObjectRow& row = report.objects.emplace_back();
        static_cast<ObjectOfTarget&>(row) = object;
        row.session = key.session;
        row.id = key.id;
    }
}

void json_contexts(Json& json, const Report& report) {
    Json& contexts = json["contexts"] = Json::array();
    for (const ContextRow& row : report.contexts) {
        Json& one = contexts.emplace_back(Json{{"session", row.session},
                                               {"core", row.core},
                                               {"context", row.context},
                                               {"ran_ticks", row.ran_ticks},
                                               {"self_ticks", row.self_ticks},
                                               {"tracer_ticks", row.tracer_ticks}});
        if (row.facts) add_facts(one, *row.facts);
        if (row.left) one["switched_away"] = json_left(*row.left);
        if (row.ready != 0) one["ready"] = row.ready;
    }
    for (const ObjectRow& row : report.objects) {
        json["objects"].push_back({{"session", row.session},
                                   {"id", row.id},
                                   {"name", row.name ? Json(to_utf8(*row.name)) : Json(nullptr)},
                                   {"takes", row.takes},
                                   {"gives", row.gives},
                                   {"waits", row.waits}});
    }
}

}  // namespace nopscope::host
