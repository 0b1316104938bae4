// SPDX-License-Identifier: Apache-2.0
// The call tree as text and as JSON, children by total time. --levels and --min-share leave out
// whole paths, so the times of the others stay true. JSON lists nodes with their parents, because
// paths may be deep.
#pragma once

#include <string>

#include "host-tools/figures/profile/profile.hpp"
#include "host-tools/figures/report/report.hpp"

namespace nopscope::host {

struct GraphOptions {
    unsigned depth = 0;    // 0: no limit
    double min_share = 0;  // of the recording's whole time, 0..1
};

std::string text_graph(const Report& report, const Profile& profile, const GraphOptions& options);
std::string json_graph(const Report& report, const Profile& profile, const GraphOptions& options);

}  // namespace nopscope::host
