// SPDX-License-Identifier: Apache-2.0
// A recording, read and named: what every command that shows one begins with.
#pragma once

#include <memory>

#include "host-tools/commands/commands.hpp"

namespace nopscope {

struct Loaded {
    std::unique_ptr<Profile> profile = std::make_unique<Profile>();
    Report report;
};

// With Profile::durations() if wanted. Says on stderr what the reader should know of the file.
Loaded load(const ReportOptions& options, bool durations = false);
// That, for who reads without load().
void say_what_is_amiss(const std::string& file, bool has_symbols, const nsc::Counters& counters);

}  // namespace nopscope
