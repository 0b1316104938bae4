// SPDX-License-Identifier: Apache-2.0
#include "host-tools/views/export/json_text.hpp"

#include <nlohmann/json.hpp>

namespace nopscope::host {

std::string json_string(std::string_view bytes) {
    return nlohmann::json(std::string(bytes))
        .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace nopscope::host
