// SPDX-License-Identifier: Apache-2.0
// A report as JSON (docs/cli.md), and its parts that other commands show, too.
#pragma once

#include "host-tools/figures/report/report.hpp"
#include "host-tools/views/json/json.hpp"

namespace nopscope::host {

std::string json_report(const Report& report);

Json json_function(const Report& report, const FunctionRow& row);
Json json_profiled(const ProfileRow& row);
Json json_cells(const EventTable& table, const std::vector<EventCell>& cells);  // by column
Json json_task(const TaskLine& line);
Json json_integrity(const Integrity& integrity);
Json json_image(const Report& report);
Json json_overhead(const Report& report);
Json json_loss(const Report& report);
Json json_others(const Report& report);  // only if Others::any()
Json json_marks(const Report& report);
Json json_masked(const Report& report);
Json json_node_events(const Report& report, std::uint32_t node);
Json json_head_of_samples(const SampleReport& samples);
void json_target(Json& json, const Report& report);  // adds `target`, if it is known
// The members `tasks` and `cores` (docs/cli.md, "tasks").
Json json_tasks(const TaskTable& table);

}  // namespace nopscope::host
