// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "host-tools/analysis/report/report.hpp"

namespace nopscope::host {

// Lists the records, or without records the profile. Functions that only samples have seen come
// last, with empty other columns.
std::string csv_report(const Report& report);

}  // namespace nopscope::host
