// SPDX-License-Identifier: Apache-2.0
// What a line brings on which no session was heard, for a person: silence, noise, text, frames.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "host-tools/target/stream/session.hpp"

namespace nopscope::host {

// A line before its first session.
struct LineSample {
    std::span<const std::uint8_t> bytes;  // the first ones; some thousand are enough
    LineCounters line;
    StreamCounters stream;
    std::uint32_t baud = 0;  // of the port; 0: the line has no rate here
    double seconds = 0;      // that it was listened to
};

struct Diagnosis {
    enum Kind : std::uint8_t { silence, zeros, text, noise, frames, refused_version } kind{};
    std::string what;  // "no byte came in 3 s"
    std::string fix;   // what to look at

    std::string sentence() const { return what + ": " + fix; }
};

Diagnosis diagnose(const LineSample& sample);

// Of a hello in a trace format that this host does not read.
std::string refused_version_sentence(std::uint16_t version);

}  // namespace nopscope::host
