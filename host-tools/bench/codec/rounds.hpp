// SPDX-License-Identifier: Apache-2.0
// The two ends of a line: the target's encoder for a core's records, and the host's decoder; and
// what the encoder spends the bits on.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "host-tools/bench/codec/ev13.hpp"
#include "tracer/protocol/trace_group.hpp"

namespace nopscope::host {

class LineEncoder {
public:
    void feed(std::span<const StampedRecord> records);
    void finish();

    const std::vector<std::uint8_t>& line() const { return line_; }
    std::uint64_t frames() const { return sequence_; }
    std::uint64_t key_frames() const { return key_frames_; }

private:
    void begin(std::uint64_t clock);
    void end();

    std::unique_ptr<protocol::TraceEncoder> encoder_ = std::make_unique<protocol::TraceEncoder>();
    protocol::FrameBuilder builder_;
    std::vector<std::uint8_t> line_;
    std::uint32_t sequence_ = 0;
    std::uint64_t key_frames_ = 0;
    bool open_ = false;
};

class LineDecoder {
public:
    explicit LineDecoder(std::span<std::uint8_t> line) : line_(line) {}

    // The records of the next frames, about `enough`. Empty at the line's end, or if !ok().
    std::span<const StampedRecord> next(std::size_t enough);
    bool ok() const { return ok_; }

private:
    std::unique_ptr<protocol::TraceDecoder> decoder_ = std::make_unique<protocol::TraceDecoder>();
    std::span<std::uint8_t> line_;  // decoded in place
    std::vector<StampedRecord> records_;
    std::uint32_t sequence_ = 0;
    bool ok_ = true;
};

// In bits. An event's first decision (is it the main event, in the expected time?) counts as time.
struct Spending {
    double identity_bits = 0;
    double time_bits = 0;
    std::uint64_t decisions = 0;
};

// Measures the bits that the model spends on identity and on time. It makes the same decisions as
// the encoder without coding them. Its groups are as long as those on a line, without the frames.
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
