// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nopscope::host {

// ": did you mean a, b or c?", the end of a sentence about a word that is not in `names`. It has at
// most three names, safe for a terminal, the nearest first. Each differs from `word` by at most a
// third of its letters. Empty: no name is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& names);

}  // namespace nopscope::host
