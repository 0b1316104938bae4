// SPDX-License-Identifier: Apache-2.0
// Makes the report of a profile: each table from the functions of its own file.
#pragma once

#include <functional>
#include <string>

#include "host-tools/figures/profile/profile.hpp"
#include "host-tools/figures/report/report.hpp"
#include "host-tools/recording/reader.hpp"

namespace nopscope::host {

// `symbols` may be null: then addresses name functions. Fails if the symbols are of another
// image, or if the recording has no readable hello.
Result<Report> make_report(const Profile& profile, const nsc::Counters& counters,
                           const Symbols* symbols, bool raw = false);

// Why there is no report: the recording has no readable hello.
std::string no_report_sentence(const nsc::Counters& counters);

// For Profile::know_code(). Calls `symbols` when a path appears first; null: no facts are known.
CodeOfCalls code_of_calls(std::function<const Symbols*()> symbols);

}  // namespace nopscope::host
