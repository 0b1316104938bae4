// SPDX-License-Identifier: Apache-2.0
// JSON pieces that several commands share.
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "host-tools/figures/function_queries/outliers.hpp"
#include "host-tools/figures/report/functions.hpp"

namespace nopscope::host {

using Json = nlohmann::ordered_json;  // keys stay in the order of insertion

// Null if the value is not known.
template <typename Value>
Json json_if(bool is_known, const Value& value) {
    return is_known ? Json(value) : Json(nullptr);
}
template <typename Value>
Json or_null(const std::optional<Value>& value) {
    return value ? Json(*value) : Json(nullptr);
}
// Outside text; null if it is empty.
Json text_or_null(std::string_view text);
// An array with what `make` returns for each of the rows.
template <typename Rows, typename Make>
Json json_list(const Rows& rows, Make make) {
    Json list = Json::array();
    for (const auto& row : rows) list.push_back(make(row));
    return list;
}
// An empty list for each name.
Json json_columns(std::initializer_list<const char*> names);
// Adds a value to each of the lists.
void add_row(Json& columns, std::initializer_list<Json> row);
Json json_place(const FunctionPlace& place);  // name, address, file, line
// The time, the place and the end of a call of the sink.
Json json_of_call(const OutlierSink& sink, const Outlier& call);
// The longest call's end and place; null: they are not known.
Json json_longest(const std::optional<Longest>& call);

// The text in quotes; bytes that are not UTF-8 become U+FFFD.
std::string json_string(std::string_view bytes);
// In one line.
std::string json_line(const Json& json);
// With a final newline, in ASCII, safe for a terminal. Bytes that are not UTF-8 become U+FFFD.
std::string json_text(const Json& json);

}  // namespace nopscope::host
