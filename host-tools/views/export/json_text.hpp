// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace nopscope::host {

// With quotes around it; bytes that are no UTF-8 become U+FFFD.
std::string json_string(std::string_view bytes);

}  // namespace nopscope::host
