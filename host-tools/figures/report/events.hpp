// SPDX-License-Identifier: Apache-2.0
// The PMU's events by function and by call path.
//
// Recording a call retires a constant number of instructions, which the target sends
// (protocol::EventCosts). The report subtracts them from INST_RETIRED, as correction.hpp does for
// times. The effect on other events depends on the CPU and the program, so they are as counted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host-tools/figures/profile/profile.hpp"
#include "host-tools/figures/report/functions.hpp"

namespace nopscope::host {

// Counts of one PMU event.
struct EventCounts {
    std::uint64_t total = 0;  // in a recursive function once; in the profile once for each call
    std::uint64_t self = 0;
};
struct EventCell : Corrected<EventCounts> {
    std::uint64_t calls = 0;  // that were counted
};
struct EventRow : FunctionPlace {
    std::vector<EventCell> cells;  // by column
};
struct EventColumn {
    std::uint32_t number = 0;
    std::string name;
    bool corrected = false;  // the number of events that recording adds is known
};
struct EventTable {
    std::vector<EventColumn> columns;           // by number; empty: nothing was counted
    std::vector<EventRow> rows;                 // by address
    std::vector<std::vector<EventCell>> nodes;  // by column and node of the call tree; trace only
};

void add_events(Report& report, const Profile& profile, const Places& places);

// Null: nothing was counted in the function at this address.
const EventRow* row_of(const EventTable& table, std::uint64_t address);
// By the first event, as the rows of functions.
void sort_rows(std::vector<EventRow>& rows, SortKey key, std::size_t top, bool raw);

}  // namespace nopscope::host
