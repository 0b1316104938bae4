// SPDX-License-Identifier: Apache-2.0
// Functions by a name, or by a glob of names.
#pragma once

#include <string_view>

#include "host-tools/image/symbols.hpp"

namespace nopscope::host {

// True if the whole text matches: `*` is any characters, `?` is one character.
bool glob_matches(std::string_view glob, std::string_view text);

// True if `glob` matches the function's name, demangled or not, or a C++ name without parameters.
bool names_function(std::string_view glob, const Function& function);

}  // namespace nopscope::host
