// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nopscope::host {

// ": did you mean a, b or c?", to end a sentence about a word that is none of `names`. It has at most three of them, the
// nearest first, made fit for a terminal; each differs from `word` by a third of its letters at most. Empty: none is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& names);

}  // namespace nopscope::host
