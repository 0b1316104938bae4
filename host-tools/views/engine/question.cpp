// SPDX-License-Identifier: Apache-2.0
#include "host-tools/views/engine/question.hpp"

#include <fmt/format.h>

namespace nopscope::host {

Result<std::int64_t> whole(const Json& question, const char* name, std::int64_t least,
                           std::int64_t most, std::int64_t otherwise) {
    const auto found = question.find(name);
    if (found == question.end()) return otherwise;
    const bool is_whole = found->is_number_integer() && (!found->is_number_unsigned() ||
                                                         found->get<std::uint64_t>() <= INT64_MAX);
    const auto value = is_whole ? found->get<std::int64_t>() : least - 1;
    if (value < least || value > most)
        return failure(fmt::format("\"{}\" is no whole number from {} to {}", name, least, most));
    return value;
}

Result<std::string> text(const Json& question, const char* name) {
    const auto found = question.find(name);
    if (found == question.end()) return std::string();
    if (!found->is_string()) return failure(fmt::format("\"{}\" is no text", name));
    return found->get<std::string>();
}

}  // namespace nopscope::host
