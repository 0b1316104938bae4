// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "host-tools/line/stream/session.hpp"

namespace nopscope::host {

// Returns 0 if a count has shrunk: records that were missing may have arrived since.
constexpr std::uint64_t since(std::uint64_t now, std::uint64_t before) {
    return now > before ? now - before : 0;
}

// A reader's counters from a moment on.
class CountersSince {
public:
    // Without a call of it, the counters are those since the reader's begin.
    void begin(const SessionReader& reader);

    StreamCounters stream(const SessionReader& reader) const;
    LineCounters line(const SessionReader& reader) const;

private:
    LineCounters line_before_;
    StreamCounters stream_before_;
};

}  // namespace nopscope::host
