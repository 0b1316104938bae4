// SPDX-License-Identifier: Apache-2.0
// What a person asks of a target, in words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host-tools/target/control/choice.hpp"

namespace nopscope::host {

struct ControlRequest {
    std::vector<std::string> words;  // a verb of verbs.hpp and its arguments
    Choice choice = {};              // of trace; its filter is the verb's arguments
    std::string recorder = {};       // of trace; empty: the one that was set last
    bool also = false;               // of trace: other functions stay as they are
};

// To and from a line of JSON, for a recorder's control socket. Throws Error.
std::string to_json(const ControlRequest& request);
ControlRequest control_request(std::string_view json);

}  // namespace nopscope::host
