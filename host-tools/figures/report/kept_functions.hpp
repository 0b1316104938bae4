// SPDX-License-Identifier: Apache-2.0
// A report of some functions only, for --function.
#pragma once

#include <string>
#include <vector>

#include "host-tools/figures/report/make_report.hpp"

namespace nopscope::host {

// Keeps the rows of the functions that match the name or glob. Their figures stay: what their
// callees took is not their own time. Call trees made of the report have only the paths to them.
// Fails (Exit::usage) with similar names if there is none.
Result<> keep_functions(Report& report, const std::string& glob);

// True if the report, or a tree made of it, shows the function.
bool keeps(const Report& report, const FunctionPlace& place);

// True for each node that `wanted` names, and for those above it. Parents come before children.
template <typename Nodes, typename Wanted>
std::vector<bool> leads_to(const Nodes& nodes, Wanted wanted) {
    std::vector<bool> leads(nodes.size());
    for (std::size_t at = nodes.size(); at-- > 1;) {
        if (!leads[at]) leads[at] = wanted(at);
        if (leads[at]) leads[nodes[at].parent] = true;
    }
    return leads;
}

}  // namespace nopscope::host
