// SPDX-License-Identifier: Apache-2.0
#include "host-tools/figures/report/kept_functions.hpp"

#include <fmt/format.h>

#include "host-tools/base/text.hpp"
#include "host-tools/image/function_names.hpp"

namespace nopscope::host {

bool keeps(const Report& report, const FunctionPlace& place) {
    return report.kept.empty() || names_function(report.kept, place);
}

Result<> keep_functions(Report& report, const std::string& glob) {
    report.kept = glob;
    std::vector<std::string> names;
    bool any = false;
    const auto keep = [&](auto& rows) {
        for (const FunctionPlace& row : rows) add_names(names, row);
        std::erase_if(rows, [&](const FunctionPlace& row) { return !keeps(report, row); });
        any |= !rows.empty();
    };
    keep(report.functions);
    keep(report.profile);
    keep(report.samples.functions);
    keep(report.events.rows);
    keep(report.profile_events.rows);
    keep(report.captured);
    keep(report.masked);
    keep(report.moved);
    if (any) return {};
    return failure(fmt::format("--function: no function that was called is named {}{}",
                               for_cell(glob), did_you_mean(glob, names)),
                   Exit::usage);
}

}  // namespace nopscope::host
