// SPDX-License-Identifier: Apache-2.0
// The tables of a report besides that of its functions. Each ends with an empty line, or is empty.
#pragma once

#include <string>

#include "host-tools/figures/report/report.hpp"

namespace nopscope::host {

std::string text_events(const Report& report);
std::string text_samples(const Report& report);
std::string text_captured(const Report& report);
std::string text_marks(const Report& report);

std::string head_of_samples(const Report& report);              // a line
std::string percent_of(std::uint64_t part, std::uint64_t all);  // "12.3 %"

}  // namespace nopscope::host
