// SPDX-License-Identifier: Apache-2.0
// JSON pieces that several commands share. Keys stay in the order of insertion.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "host-tools/analysis/report/report.hpp"

namespace nopscope::host {

using Json = nlohmann::ordered_json;

Json json_integrity(const Integrity& integrity);
// The longest call's end and place; null: they are not known.
Json json_longest(const std::optional<Longest>& call);
Json json_image(const Report& report);
Json json_overhead(const Report& report);
Json json_loss(const Report& report);
Json json_others(const Report& report);  // only if Others::any()
Json json_marks(const Report& report);
Json json_place(const FunctionPlace& place);  // name, address, file, line
Json json_masked(const Report& report);
// Adds `captured`, `counters` and `markers` to `json` if they have entries.
void json_captured(Json& json, const Report& report);

// Null if there is no value.
template <typename Value>
Json or_null(const std::optional<Value>& value) {
    return value ? Json(*value) : Json(nullptr);
}
// An empty list for each name.
Json json_columns(std::initializer_list<const char*> names);
// The text in quotes; bytes that are not UTF-8 become U+FFFD.
std::string json_string(std::string_view bytes);
// With a final newline, in ASCII, safe for a terminal. Bytes that are not UTF-8 become U+FFFD.
std::string json_text(const Json& json);

}  // namespace nopscope::host
