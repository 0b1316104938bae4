// SPDX-License-Identifier: Apache-2.0
// Options under names that they had before. --help, man pages and completions do not show these.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nopscope::host {

// "--filter" of record -> "--trace". An option that has its name still comes back as it is.
// `value`: that follows it; "--mode profile" is an old spelling, "--mode flight" is not.
std::string current_option(std::string_view command, const std::string& option,
                           std::string_view value = {});
// Likewise; and says what to write now, a line for a person.
std::string used_option(std::string_view command, const std::string& option,
                        std::string_view value);

// `words`: a command's name and what follows it. Replaces the old names, and says so.
void use_current_options(std::vector<std::string>& words);

}  // namespace nopscope::host
