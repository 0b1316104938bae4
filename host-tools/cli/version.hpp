// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace nopscope::host {

// Returns the text of --version without its final newline: version, formats and build. It has no
// date and no path, so two builds of a commit by the same compiler print the same.
std::string version_lines();

}  // namespace nopscope::host
