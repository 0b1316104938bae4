// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace nopscope::host {

// What --version prints, without the last line's end: version, formats and build. The same for each
// build of a commit by the same compiler: no date and no path.
std::string version_lines();

}  // namespace nopscope::host
