// SPDX-License-Identifier: Apache-2.0
// Turns a recording's chunks into counters, and into the SessionSink calls made while recording.
#pragma once

#include <array>

#include "host-tools/recording/block.hpp"
#include "host-tools/recording/decompressor.hpp"
#include "host-tools/recording/format.hpp"
#include "host-tools/target/stream/session.hpp"

namespace nopscope::host::nsc {

class Replay {
public:
    explicit Replay(SessionSink& sink) : sink_(sink) {}

    // Takes a chunk's payload; its CRC is right. False: malformed; the sink got the readable part.
    bool chunk(Type type, std::span<const std::uint8_t> payload);
    // The counts of the block that chunk() took last, but `good`.
    const BlockCounts& block_counts() const { return block_counts_; }
    // Instead of chunk() for a block: the sink does not get its records.
    void leave_out(const BlockCounts& counts);
    // The file is over. Call it once, last.
    void finish();

    // After finish() these match the records of the file. Records that were counted but are not in
    // the file are lost. Records after the last counters are added to the generated ones.
    const LineCounters& line() const { return line_; }
    const StreamCounters& stream() const { return stream_; }

private:
    bool session(protocol::Reader in);
    bool trace(std::span<const std::uint8_t> body);
    bool items(protocol::Reader in);
    bool item(Item what, unsigned core, std::span<const std::uint8_t> bytes, bool in_session);
    bool counters(protocol::Reader in);
    void end_session();

    SessionSink& sink_;
    Decompressor decompress_;
    BlockReader block_;
    bool open_ = false;
    std::uint64_t session_ = 0;  // its number in the file
    unsigned hello_cores_ = 0;   // the session's number of cores
    std::array<BlockCounts::Core, 256> cores_{};
    BlockCounts block_counts_;
    std::uint64_t records_ = 0;  // records that the sink got, or would have got
    std::uint64_t gaps_ = 0;     // missing blocks
    std::uint64_t sessions_ = 0;
    std::uint64_t malformed_ = 0;  // profile, moved and tasks frames
    LineCounters line_;
    StreamCounters stream_;
};

}  // namespace nopscope::host::nsc
