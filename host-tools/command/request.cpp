// SPDX-License-Identifier: Apache-2.0
#include "host-tools/command/request.hpp"

#include <nlohmann/json.hpp>

#include "host-tools/base/error.hpp"
#include "host-tools/command/verbs.hpp"

namespace nopscope::host {

std::string to_json(const ControlRequest& request) {
    nlohmann::json json{{"words", request.words},
                        {"notrace", request.choice.notrace},
                        {"recorder", request.recorder},
                        {"also", request.also}};
    if (request.choice.size_above) json["size_above"] = *request.choice.size_above;
    return json.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

ControlRequest control_request(std::string_view text) {
    ControlRequest request;
    try {
        const nlohmann::json json = nlohmann::json::parse(text);
        request.words = json.at("words").get<std::vector<std::string>>();
        request.choice.notrace = json.value("notrace", std::vector<std::string>{});
        request.recorder = json.value("recorder", "");
        request.also = json.value("also", false);
        if (json.contains("size_above")) {
            request.choice.size_above = json.at("size_above").get<std::uint64_t>();
        }
    } catch (const nlohmann::json::exception&) {
        throw Error("the request is no JSON object with `words`: see docs/control.md", Exit::usage);
    }
    check(request);
    return request;
}

}  // namespace nopscope::host
