// SPDX-License-Identifier: Apache-2.0
// A profile with names and nanoseconds, which every output format shows. It has times as recorded,
// and `corrected` times: less the recording overhead (figures/profile/correction.hpp). All times
// in a table (total, self, min, mean, max, percentiles) are corrected, or all are as recorded. In a
// report on the CPU (Report::on_cpu) all times of calls are without those in which their tasks did
// not run; else only the `cpu_ns`.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "host-tools/figures/report/captured.hpp"
#include "host-tools/figures/report/events.hpp"
#include "host-tools/figures/report/functions.hpp"
#include "host-tools/figures/report/integrity.hpp"
#include "host-tools/figures/report/samples.hpp"
#include "host-tools/figures/report/target.hpp"
#include "host-tools/figures/report/task_table.hpp"

namespace nopscope::host {

// With the hello of the recording's first session. If it is not `calibrated`, corrected times are
// as recorded.
struct Report : HelloInfo {
    std::string part;    // of the recording that is shown; empty: all of it
    std::string damage;  // of the line (DamagedChunks::sentence()); empty: none
    std::string kept;    // a glob: the rows that keep_functions() kept; empty: all
    Others others;
    std::int64_t subtracted_ns = 0;   // from all self times of `functions` and `profile` together
    std::uint64_t below_zero_ns = 0;  // overhead beyond self times, which are 0 then
    bool raw = false;                 // texts show, and sort by, times as recorded
    bool on_cpu = false;              // times of calls are those on the CPU
    std::uint64_t duration_ns = 0;
    std::uint64_t tracer_ns = 0;
    std::uint64_t sessions = 0;
    Integrity integrity;
    std::vector<MissingRow> missing;     // in the order of the recording
    SplitBy split = SplitBy::nothing;    // by task or core: `functions` has a row for each group
    std::vector<std::string> groups;     // names of tasks, or numbers of cores; outside text
    std::vector<FunctionRow> functions;  // unsorted
    std::vector<FunctionRow>
        by_number;             // by the profile's function number; if split, only places and calls
    std::vector<Times> nodes;  // by node of the call tree, corrected
    std::vector<Times> raw_nodes;      // likewise, as recorded
    std::vector<bool> no_landing_pad;  // by function number
    std::uint64_t read_out = 0;        // number of the profile's last read-out; 0: none
    std::vector<ProfileRow> profile;   // unsorted
    bool adaptive = false;  // true: `functions` has the sums of the trace and the profile
    std::uint64_t moves = 0;
    std::vector<MoveRow> moved;
    TargetFacts target;
    SampleReport samples;
    EventTable events;  // of calls in the trace
    EventTable profile_events;
    SortKey sort = SortKey::self;       // for the events in texts
    std::size_t top = 0;                // likewise: how many rows; 0: all
    std::vector<CapturedRow> captured;  // by address
    std::map<std::uint32_t, ValueSeries> counters;
    std::vector<MarkRow> marks;
    std::vector<MaskedRow> masked;
    std::vector<ContextRow> contexts;  // in the order of the recording's sessions
    std::vector<ObjectRow> objects;    // by session and id

    // The times of a node of the call tree, as texts show them.
    const Times& of_node(std::size_t node) const { return raw ? raw_nodes[node] : nodes[node]; }
    // True if `functions` has a function. Interrupts do not count: any recorder records them.
    bool has_calls() const {
        return std::any_of(functions.begin(), functions.end(),
                           [](const FunctionRow& row) { return !row.interrupt; });
    }
    // True if a core ran more than one context.
    bool has_tasks() const {
        return std::any_of(contexts.begin(), contexts.end(),
                           [](const ContextRow& row) { return row.context != 0; });
    }
};
// True if texts have the time on the CPU beside the total.
inline bool shows_cpu(const Report& report) { return report.has_tasks() && !report.on_cpu; }

}  // namespace nopscope::host
