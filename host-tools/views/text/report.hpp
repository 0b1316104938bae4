// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "host-tools/figures/report/report.hpp"

namespace nopscope::host {

// For people.
std::string text_report(const Report& report);

}  // namespace nopscope::host
