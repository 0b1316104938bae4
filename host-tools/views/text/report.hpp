// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "host-tools/figures/report/report.hpp"
#include "host-tools/views/json/json.hpp"

namespace nopscope::host {

// For people.
std::string text_report(const Report& report);

// Lists the records, or without records the profile. Functions that only samples have seen come
// last, with empty other columns.
std::string csv_report(const Report& report);

// The members of `row` that have these names, with commas between, each after a comma. A member
// that is null, or not there, has an empty cell.
std::string csv_cells(std::string_view columns, const Json& row);

}  // namespace nopscope::host
