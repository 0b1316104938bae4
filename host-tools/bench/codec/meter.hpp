// SPDX-License-Identifier: Apache-2.0
// Measures the bits that the model spends on identity and on time. It makes the same decisions as
// the encoder without coding them. Its groups are as long as those on a line, without the frames.
#pragma once

#include <memory>
#include <span>

#include "host-tools/bench/codec/ev13.hpp"
#include "tracer/protocol/trace_group.hpp"

namespace nopscope::host {

// In bits. An event's first decision (is it the main event, in the expected time?) counts as time.
struct Spending {
    double identity_bits = 0;
    double time_bits = 0;
    std::uint64_t decisions = 0;
};

class Meter {
public:
    Meter();
    void feed(std::span<const StampedRecord> records);
    const Spending& spending() const { return walk_.spending; }

private:
    struct Coder {
        static constexpr bool encodes = true;
        bool bit(protocol::Probability& p, bool one);
        std::uint32_t plain(std::uint32_t value, unsigned count);
        void spent_on(protocol::Spent what);

        Spending spending;
        double pending = 0;
    };

    std::unique_ptr<protocol::TraceModel> model_ = std::make_unique<protocol::TraceModel>();
    protocol::TraceWalk<Coder> walk_;
    double group_begins_at_ = 0;  // bits
};

}  // namespace nopscope::host
