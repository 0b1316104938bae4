// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace nopscope::host {

// Prints a line to stderr, after the command's name. `sentence` may contain outside text.
void say(const std::string& sentence);

}  // namespace nopscope::host
