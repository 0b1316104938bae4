// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "host-tools/calls/moves_in_order.hpp"
#include "host-tools/figures/profile/profile.hpp"
#include "host-tools/recording/reader.hpp"
#include "tests/unit/host/target_stream.hpp"

namespace nopscope::host::test {

// Passes all of a line on, with the records of tasks that move in order.
inline void read_line(const TargetStream& target, SessionSink& sink) {
    MovesInOrder in_order(sink);
    SessionReader line(in_order);
    line.feed(target.bytes);
    if (sink.failure() != nullptr) throw *sink.failure();
    line.finish();
}

// Makes a profile of a line's bytes.
class LineProfile : public Profile {
public:
    void feed(std::span<const std::uint8_t> bytes) { line_.feed(bytes); }
    void finish() { line_.finish(); }
    void read(std::span<const std::uint8_t> bytes) {
        feed(bytes);
        finish();
    }
    nsc::Counters counters() const { return {{}, line_.line(), line_.counters()}; }

private:
    MovesInOrder in_order_{*this};
    SessionReader line_{in_order_};
};

}  // namespace nopscope::host::test
