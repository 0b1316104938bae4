// SPDX-License-Identifier: Apache-2.0
// Checks an option's value before CLI11 converts it. Each check returns a sentence without its
// subject, the option's name: "expected a whole number from 1 to 1000, not 1e3".
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace nopscope::host {

// Decimal, or hexadecimal after 0x.
CLI::Validator whole_number(std::uint64_t least, std::uint64_t most);
// A decimal number, which may have a fraction or an exponent, but not NaN. `unit`: "seconds".
CLI::Validator real_number(double least, double most, const std::string& unit);
// One of `words`; upper and lower case are equal. The value takes the spelling in `words`.
CLI::Validator one_of(std::vector<std::string> words);

// Returns "{a,b}", as an option's type name. --help, man pages and completions read the words from
// it.
std::string choices(const std::vector<std::string>& words);

}  // namespace nopscope::host
