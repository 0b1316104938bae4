// SPDX-License-Identifier: Apache-2.0
#include "host-tools/views/json/report.hpp"

#include "host-tools/base/memory.hpp"
#include "host-tools/base/text.hpp"
#include "host-tools/views/text/head.hpp"

namespace nopscope::host {
namespace {

// The part that the rows of the trace and those of the profile share.
void add_sums(Json& json, const TimedRow& row) {
    json.update({{"calls", row.calls},
                 {"total_ns", row.total_ns},
                 {"self_ns", row.self_ns},
                 {"corrected_total_ns", row.corrected.total_ns},
                 {"corrected_self_ns", row.corrected.self_ns}});
}

// Times of single calls as recorded, and corrected; null: no call was recorded from begin to end.
void add_call(Json& json, const TimedRow& row) {
    const auto put = [&](const std::string& prefix, const std::optional<CallTimes>& of) {
        const CallTimes times = of.value_or(CallTimes{});
        json[prefix + "min_ns"] = json_if(of.has_value(), times.min_ns);
        json[prefix + "mean_ns"] = json_if(of.has_value(), times.mean_ns);
        json[prefix + "max_ns"] = json_if(of.has_value(), times.max_ns);
    };
    put("", row.call);
    put("corrected_", row.corrected.call);
}

// The number of a core; null: the calls are of the target's profile, which has all cores.
Json json_core(const std::string& group) {
    return Json::accept(group) ? Json::parse(group) : Json(nullptr);
}

void add_functions(Json& json, const Report& report) {
    Json& functions = json["functions"] = Json::array();
    Json interrupts = Json::array();
    for (const FunctionRow& row : report.functions)
        (row.interrupt ? interrupts : functions).push_back(json_function(report, row));
    if (!interrupts.empty()) json["interrupts"] = std::move(interrupts);
}

Json json_left(const LeftCounts& counts) {
    const auto of = [&](protocol::Left how) { return counts[static_cast<std::size_t>(how)]; };
    return {{"preempted", of(protocol::Left::preempted)},
            {"blocked", of(protocol::Left::blocked)},
            {"gave_way", of(protocol::Left::gave_way)},
            {"ended", of(protocol::Left::ended)},
            {"unknown", of(protocol::Left::unknown)}};
}

Json json_context(const ContextRow& row) {
    Json one{{"session", row.session},       {"core", row.core},
             {"context", row.context},       {"ran_ticks", row.ran_ticks},
             {"self_ticks", row.self_ticks}, {"tracer_ticks", row.tracer_ticks}};
    if (row.facts) {
        const ContextFacts& facts = *row.facts;
        one.update({{"name", to_utf8(facts.name)},
                    {"priority", facts.priority},
                    {"id", facts.id},
                    {"interrupts", facts.runs_interrupts},
                    {"ended", facts.has_ended}});
        if (facts.stack_bytes != 0)
            one["stack"] = {{"low", hex_address(facts.stack_low)},
                            {"bytes", facts.stack_bytes},
                            {"used", facts.stack_used}};
    }
    if (row.left) one["switched_away"] = json_left(*row.left);
    if (row.ready != 0) one["ready"] = row.ready;
    return one;
}

void add_contexts(Json& json, const Report& report) {
    json["contexts"] = json_list(report.contexts, json_context);
    if (report.objects.empty()) return;
    json["objects"] = json_list(report.objects, [](const ObjectRow& row) {
        return Json{{"session", row.session},
                    {"id", row.id},
                    {"name", row.name ? Json(to_utf8(*row.name)) : Json(nullptr)},
                    {"takes", row.takes},
                    {"gives", row.gives},
                    {"waits", row.waits}};
    });
}

void add_series(Json& row, const ValueSeries& series) {
    row.update({{"count", series.count},
                {"min", series.min},
                {"max", series.max},
                {"last", series.last},
                {"values", nullptr}});
    if (series.different.empty()) return;
    row["values"] = json_list(series.different, [](const auto& value) { return Json(value); });
}

// Adds `captured`, `counters` and `markers` to `json` if they have entries.
void add_captured(Json& json, const Report& report) {
    for (const CapturedRow& row : report.captured) {
        add_series(json["captured"].emplace_back(Json{{"name", to_utf8(row.name)},
                                                      {"address", hex_address(row.address)},
                                                      {"what", row.what}}),
                   row.series);
    }
    for (const auto& [id, series] : report.counters)
        add_series(json["counters"].emplace_back(Json{{"id", id}}), series);
    if (!report.marks.empty()) json["markers"] = json_marks(report);
}

void add_moves(Json& json, const Report& report) {
    if (!report.adaptive) return;
    json["adaptive"]["moves"] = report.moves;
    json["adaptive"]["moved"] = json_list(report.moved, [](const MoveRow& row) {
        return Json{{"name", to_utf8(row.name)},
                    {"address", hex_address(row.address)},
                    {"to", row.to_profile ? "profile" : "trace"},
                    {"at_ns", row.at_ns},
                    {"session", row.session}};
    });
}

void add_samples(Json& json, const SampleReport& samples) {
    if (samples.count == 0) return;
    json["samples"] = json_head_of_samples(samples);
    json["samples"]["functions"] = json_list(samples.functions, [](const SampleRow& row) {
        Json one = json_place(row);
        one.update({{"self", row.self}, {"total", row.total}, {"share", row.share}});
        return one;
    });
}

void add_profile(Json& json, const Report& report) {
    // If all profile frames are lost, its events may still be there.
    const bool is_known = report.read_out != 0 || !report.profile_events.columns.empty();
    if (is_known) json["profile"]["read_out"] = report.read_out;
    if (is_known || !report.profile.empty())
        json["profile"]["functions"] = json_list(report.profile, json_profiled);
}

// Adds `events` to `json` and to each of its `functions`, which has the same rows in the same
// order, but no interrupts.
template <typename Row>
void add_events(Json& json, const std::vector<Row>& rows, const EventTable& table) {
    if (table.columns.empty()) return;
    json["events"] = json_list(table.columns, [](const EventColumn& column) {
        return Json{
            {"name", column.name}, {"number", column.number}, {"corrected", column.corrected}};
    });
    auto function = json["functions"].begin();
    for (const Row& row : rows) {
        if (row.interrupt) continue;
        const EventRow* const events = row_of(table, row.address);
        (*function++)["events"] =
            events != nullptr ? json_cells(table, events->cells) : Json::object();
    }
}

}  // namespace

Json json_function(const Report& report, const FunctionRow& row) {
    Json one = row.interrupt ? Json{{"interrupt", *row.interrupt}} : json_place(row);
    add_sums(one, row);
    one.update({{"cpu_ns", row.cpu_ns},
                {"corrected_cpu_ns", row.corrected.cpu_ns},
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
    add_call(one, row);
    one["longest"] = json_longest(row.longest);
    if (report.adaptive && !row.interrupt) one["profiled"] = row.profiled;
    return one;
}

Json json_profiled(const ProfileRow& row) {
    Json one = json_place(row), bins = Json::array();
    for (std::size_t n = 0; n < row.bins.size(); ++n) {
        if (row.bins[n] != 0) bins.push_back({n, row.bins[n]});
    }
    add_sums(one, row);
    one.update({{"p50_ns", row.percentiles_ns[0]},
                {"p99_ns", row.percentiles_ns[1]},
                {"corrected_p50_ns", row.corrected_percentiles_ns[0]},
                {"corrected_p99_ns", row.corrected_percentiles_ns[1]},
                {"share", row.share},
                {"doubtful", row.doubtful},
                {"bins", std::move(bins)}});
    add_call(one, row);
    return one;
}

Json json_cells(const EventTable& table, const std::vector<EventCell>& cells) {
    Json json = Json::object();
    for (std::size_t i = 0; i < cells.size(); ++i) {
        json[table.columns[i].name] = {{"calls", cells[i].calls},
                                       {"total", cells[i].total},
                                       {"self", cells[i].self},
                                       {"corrected_total", cells[i].corrected.total},
                                       {"corrected_self", cells[i].corrected.self}};
    }
    return json;
}

Json json_task(const TaskLine& line) {
    Json one{{"name", to_utf8(line.name)}, {"tasks", line.tasks},
             {"cores", line.cores},        {"priority", or_null(line.priority)},
             {"idle", line.is_idle},       {"cpu_ns", line.cpu_ns},
             {"share", line.share},        {"runs", line.runs}};
    one.update(json_left(line.left));
    one.update({{"ready_ns", line.ready_ns}, {"blocked_ns", line.blocked_ns}});
    one["longest_wait"] = nullptr;
    if (line.longest_ns != 0) {
        one["longest_wait"] = {
            {"ns", line.longest_ns},
            {"end_ns", line.longest_end_ns},
            {"core", line.longest_core},
            {"behind", line.behind ? Json(to_utf8(*line.behind)) : Json(nullptr)}};
    }
    one["waited_for"] = json_list(line.waited_for, [](const WaitedFor& of) {
        return Json{{"name", to_utf8(of.name)}, {"waits", of.waits}, {"blocked_ns", of.blocked_ns}};
    });
    one["stack_bytes"] = json_if(line.stack_bytes != 0, line.stack_bytes);
    one["stack_used"] = json_if(line.stack_used != 0, line.stack_used);
    return one;
}

Json json_integrity(const Integrity& integrity) {
    Json json;
    for (const IntegrityItem& item : integrity.items) json[item.name] = item.value;
    json["generated_is"] = integrity.at_least ? "at least" : "exact";
    json["complete"] = integrity.complete;
    json["clean"] = integrity.clean;
    return json;
}

Json json_image(const Report& report) {
    return {{"build_id", to_hex(report.build_id)},
            {"name", to_utf8(report.image)},
            {"board", to_utf8(report.board)}};
}

Json json_overhead(const Report& report) {
    Json json{{"clock", clock_name(report)},
              {"calibrated", report.calibrated},
              {"subtracted_ns", report.subtracted_ns},
              {"below_zero_ns", report.below_zero_ns}};
    if (!report.calibrated) return json;
    json["landing_pad_ns"] = overhead_ns(report.landing_pad, report.clock_hz);
    for (std::size_t n = 0; n < report.overheads.size(); ++n) {
        const protocol::Overhead& one = report.overheads[n];
        json[recorder_name(n)] = {{"inside_ns", overhead_ns(one.inside, report.clock_hz)},
                                  {"outside_ns", overhead_ns(one.outside, report.clock_hz)}};
    }
    return json;
}

Json json_loss(const Report& report) {
    const Loss loss = loss_of(report);
    return {{"records", loss.events},    {"dropped", loss.dropped}, {"lost", loss.lost},
            {"unhooked", loss.unhooked}, {"share", loss.share()},   {"helps", loss.helps}};
}

Json json_others(const Report& report) {
    const Others& others = report.others;
    return {{"calls", others.calls},
            {"path_calls", others.path_calls},
            {"left_out", others.left_out},
            {"memory_bytes", memory_limit()}};
}

Json json_marks(const Report& report) {
    return json_list(report.marks, [](const MarkRow& mark) {
        return Json{{"time_ns", mark.time_ns}, {"id", mark.id},
                    {"core", mark.core},       {"context", mark.context},
                    {"session", mark.session}, {"function", text_or_null(mark.function)}};
    });
}

Json json_masked(const Report& report) {
    return json_list(report.masked, [](const MaskedRow& row) {
        Json one{{"length_ns", row.length_ns},
                 {"at_ns", row.at_ns},
                 {"core", row.core},
                 {"session", row.session}};
        one.update(json_place(row));
        return one;
    });
}

Json json_node_events(const Report& report, std::uint32_t node) {
    std::vector<EventCell> cells;
    for (const auto& of : report.events.nodes) cells.push_back(of[node]);
    return json_cells(report.events, cells);
}

Json json_head_of_samples(const SampleReport& samples) {
    return {{"count", samples.count}, {"cut", samples.cut}};
}

void json_target(Json& json, const Report& report) {
    const TargetFacts& target = report.target;
    const protocol::RefusedSites& refused = report.refused_sites;
    if (!target.known && !refused.known) return;
    const auto in_force = [](const TargetRow& row) {
        return Json{
            {"what", in_force_text(row)}, {"from_ns", row.from_ns}, {"session", row.session}};
    };
    json["target"] = {{"in_force", json_list(target.in_force, in_force)},
                      {"stopped_ns", or_null(target.stopped_ns)},
                      {"keeps_profile", target.keeps_profile},
                      {"profile_read_ns", or_null(target.read_ns)},
                      {"on_target_only", json_list(target.only_there, to_utf8)},
                      {"recursions", target.recursions},
                      {"refused_sites",
                       {{"misaligned", refused.misaligned},
                        {"outside", refused.outside},
                        {"words", refused.words}}}};
}

Json json_tasks(const TaskTable& table) {
    return {{"tasks", json_list(table.tasks, json_task)},
            {"cores", json_list(table.cores, [](const CoreLine& core) {
                 return Json{{"core", core.core},
                             {"cpu_ns", core.cpu_ns},
                             {"idle_ns", core.idle_ns},
                             {"tracer_ns", core.tracer_ns}};
             })}};
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
    json["gaps_list"] = json_list(report.missing, [](const MissingRow& row) {
        return Json{{"session", row.session}, {"core", row.core}, {"from_ns", row.from_ns},
                    {"to_ns", row.to_ns},     {"lost", row.lost}, {"overwritten", row.overwritten},
                    {"dropped", row.dropped}};
    });
    add_contexts(json, report);
    add_functions(json, report);
    if (!report.masked.empty()) json["masked"] = json_masked(report);
    add_moves(json, report);
    add_captured(json, report);
    add_samples(json, report.samples);
    add_profile(json, report);
    add_events(json, report.functions, report.events);
    if (json.contains("profile"))
        add_events(json["profile"], report.profile, report.profile_events);
    return json_text(json);
}

}  // namespace nopscope::host
