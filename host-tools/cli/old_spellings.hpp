// SPDX-License-Identifier: Apache-2.0
// Old names of options. --help, man pages and completions do not show them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nopscope::host {

// Returns "--trace" for record's "--filter", and a current name unchanged. `value`: the option's
// value; "--mode profile" is an old spelling, "--mode flight" is not.
std::string current_option(std::string_view command, const std::string& option,
                           std::string_view value = {});
// Does the same, and prints the current spelling for the user if `option` is an old name.
std::string used_option(std::string_view command, const std::string& option,
                        std::string_view value);

// used_option() for each word of `words`: a command's name and its arguments.
void use_current_options(std::vector<std::string>& words);

}  // namespace nopscope::host
