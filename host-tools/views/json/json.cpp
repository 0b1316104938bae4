// SPDX-License-Identifier: Apache-2.0
#include "host-tools/views/json/json.hpp"

#include "host-tools/base/text.hpp"

namespace nopscope::host {

Json text_or_null(std::string_view text) { return json_if(!text.empty(), to_utf8(text)); }

Json json_columns(std::initializer_list<const char*> names) {
    Json json;
    for (const char* name : names) json[name] = Json::array();
    return json;
}

void add_row(Json& columns, std::initializer_list<Json> row) {
    auto column = columns.begin();
    for (const Json& value : row) (column++)->push_back(value);
}

Json json_place(const FunctionPlace& place) {
    return {{"name", to_utf8(place.name)},
            {"address", hex_address(place.address)},
            {"file", to_utf8(place.file)},
            {"line", place.line}};
}

Json json_of_call(const OutlierSink& sink, const Outlier& call) {
    return {{"at_ns", sink.begin(call)},
            {"core", call.track.core},
            {"context", call.track.context},
            {"task", text_or_null(sink.task(call))},
            {"left", left_text(call.how)}};
}

Json json_longest(const std::optional<Longest>& call) {
    if (!call) return nullptr;
    return {{"end_ns", call->end_ns}, {"core", call->core}, {"context", call->context}};
}

std::string json_string(std::string_view bytes) { return json_line(Json(std::string(bytes))); }

std::string json_line(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string json_text(const Json& json) {
    return json.dump(1, ' ', true, Json::error_handler_t::replace) + "\n";
}

}  // namespace nopscope::host
