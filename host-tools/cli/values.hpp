// SPDX-License-Identifier: Apache-2.0
// Checks of options' values, before CLI11 converts them. Each returns a sentence without its
// subject, which is the option's name: "expected a whole number from 1 to 1000, not 1e3".
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace nopscope::host {

// Decimal, or hexadecimal after 0x.
CLI::Validator whole_number(std::uint64_t least, std::uint64_t most);
// Decimal, with a fraction or an exponent if need be; never NaN. `unit` is said: "seconds"; empty:
// none.
CLI::Validator real_number(double least, double most, const std::string& unit);
// One of these, in letters of either case; the value becomes that of `words`.
CLI::Validator one_of(std::vector<std::string> words);

// For the options' type names, from which --help, man pages and completions take the words:
// "{a,b}".
std::string choices(const std::vector<std::string>& words);

}  // namespace nopscope::host
