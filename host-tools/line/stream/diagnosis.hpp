// SPDX-License-Identifier: Apache-2.0
// Explains to a person what a line without a session brings: silence, noise, text or frames.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "host-tools/line/stream/damage.hpp"

namespace nopscope::host {

// Bytes and counters of a line before its first session.
struct LineSample {
    std::span<const std::uint8_t> bytes;  // the first some thousand
    LineCounters line;
    StreamCounters stream;
    std::uint32_t baud = 0;  // of the port; 0: the line has no rate here
    double seconds = 0;      // time of listening
    ByteChange changed;      // change_of() all bytes so far
};

struct Diagnosis {
    enum Kind : std::uint8_t {
        silence,
        zeros,
        text,
        noise,
        frames,
        refused_version,
        changed
    } kind{};
    std::string what;  // "no byte came in 3 s"
    std::string fix;   // what to check

    std::string sentence() const { return what + ": " + fix; }
};

Diagnosis diagnose(const LineSample& sample);

// For a hello in a trace format that this host does not read.
std::string refused_version_sentence(std::uint16_t version);

}  // namespace nopscope::host
