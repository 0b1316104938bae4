// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace nopscope::host {

using Json = nlohmann::ordered_json;  // keys stay in the order of insertion

}  // namespace nopscope::host
