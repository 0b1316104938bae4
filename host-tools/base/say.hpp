// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace nopscope::host {

// A line on stderr, behind the command's name. `sentence` may hold outside text.
void say(const std::string& sentence);

}  // namespace nopscope::host
