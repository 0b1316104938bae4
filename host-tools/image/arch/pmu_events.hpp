// SPDX-License-Identifier: Apache-2.0
// Names of the PMU's common events: Arm's mnemonics in lower case (Arm ARM DDI 0487, D13.12.2).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nopscope::host {

// Returns 8 for "inst_retired" or "0x8". Nothing: `name` is neither a known name nor a number.
std::optional<std::uint16_t> event_number(std::string_view name);
// Returns "inst_retired", or "0x77" for a number without a known name.
std::string event_name(std::uint32_t number);
// All names: "sw_incr", "l1i_cache_refill", ...
std::vector<std::string> event_words();
// All names with their numbers, one in each line.
std::string event_list();

}  // namespace nopscope::host
