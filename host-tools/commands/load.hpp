// SPDX-License-Identifier: Apache-2.0
// A recording, read whole and named: what the commands that show sums begin with.
#pragma once

#include <memory>
#include <string>

#include "host-tools/nsc/reader.hpp"
#include "host-tools/profile/profile.hpp"
#include "host-tools/report/report.hpp"

namespace nopscope {

struct Loaded {
    std::unique_ptr<Profile> profile = std::make_unique<Profile>();
    Report report;
};

// `image`: the ELF to name it by; empty: the recording's own symbols. Says on standard error what the report's
// reader should know. Throws Error, as make_report() and Reader::read_file().
Loaded load(const std::string& file, const std::string& image, bool raw);

// The sentences of load(), for who reads without it.
void say_what_is_amiss(const std::string& file, bool has_symbols, const nsc::Counters& counters);

}  // namespace nopscope
