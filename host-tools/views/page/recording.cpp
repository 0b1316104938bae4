// SPDX-License-Identifier: Apache-2.0
#include "host-tools/views/page/recording.hpp"

#include <fmt/format.h>

#include "host-tools/analysis/report/json.hpp"
#include "host-tools/recording/format.hpp"
#include "host-tools/recording/writer.hpp"

namespace nopscope::host {

std::string base64(std::span<const std::uint8_t> bytes) {
    constexpr char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text((bytes.size() + 2) / 3 * 4, '=');
    char* to = text.data();
    const std::uint8_t* at = bytes.data();
    const std::size_t rest = bytes.size() % 3;
    const auto put = [&](std::uint32_t bits, std::size_t count) {
        for (std::size_t n = 0; n < count; ++n) *to++ = letters[bits >> (18 - 6 * n) & 63];
    };
    for (const auto* const end = at + (bytes.size() - rest); at != end; at += 3)
        put(std::uint32_t{at[0]} << 16 | std::uint32_t{at[1]} << 8 | at[2], 4);
    if (rest != 0)
        put(std::uint32_t{at[0]} << 16 | (rest == 2 ? std::uint32_t{at[1]} << 8 : 0), rest + 1);
    return text;
}

namespace {

std::string fields_of(const EmbeddedRecording& recording) {
    Json options{{"file", recording.file},
                 {"title", recording.title},
                 {"raw", recording.raw},
                 {"on_cpu", recording.on_cpu},
                 {"memory", recording.memory}};
    // Keys are text: JavaScript's numbers have 53 bits.
    for (const auto& [key, number] : recording.functions) {
        options["functions"].push_back(fmt::format("{:x}", key));
        options["functions"].push_back(number);
    }
    return "\"options\":" + options.dump(-1, ' ', false, Json::error_handler_t::replace) +
           ",\"recording\":\"" + base64(recording.bytes) + "\"";
}

}  // namespace

std::string opening_json(const EmbeddedRecording& recording) {
    return "{" + fields_of(recording) + "}";
}

std::string opening_json(const EmbeddedRecording& before, const EmbeddedRecording& after) {
    return "{" + fields_of(after) + ",\"before\":{" + fields_of(before) + "}}";
}

std::vector<std::uint8_t> with_symbols(std::span<const std::uint8_t> recording,
                                       const Symbols& symbols) {
    const std::vector<std::uint8_t> chunk = nsc::symbols_chunk(symbols);
    std::vector<std::uint8_t> result;
    result.reserve(recording.size() + chunk.size());
    const auto head = recording.first(std::min(recording.size(), nsc::file_header_bytes));
    result.assign(head.begin(), head.end());
    result.insert(result.end(), chunk.begin(), chunk.end());
    result.insert(result.end(), recording.begin() + static_cast<std::ptrdiff_t>(head.size()),
                  recording.end());
    return result;
}

}  // namespace nopscope::host
