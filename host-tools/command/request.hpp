// SPDX-License-Identifier: Apache-2.0
// A person's request to a target, in words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host-tools/image/choice.hpp"

namespace nopscope::host {

struct ControlRequest {
    std::vector<std::string> words;  // a verb of verbs.hpp and its arguments
    Choice choice = {};              // for trace; its filter holds the verb's arguments
    std::string recorder = {};       // for trace; empty: the recorder that was set last
    bool also = false;               // for trace: other functions keep their state
};

// Convert to and from a line of JSON, for a recorder's control socket. Throw Error.
std::string to_json(const ControlRequest& request);
ControlRequest control_request(std::string_view json);

}  // namespace nopscope::host
