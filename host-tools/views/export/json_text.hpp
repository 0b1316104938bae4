// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace nopscope::host {

// The text in quotes; bytes that are not UTF-8 become U+FFFD.
std::string json_string(std::string_view bytes);

}  // namespace nopscope::host
