// SPDX-License-Identifier: Apache-2.0
// Turns a recording's chunks into counters, and into the SessionSink calls made while recording.
#pragma once

#include <array>

#include "host-tools/line/stream/session.hpp"
#include "host-tools/recording/block.hpp"
#include "host-tools/recording/format.hpp"
#include "host-tools/recording/zstd.hpp"

namespace nopscope::host::nsc {

class Replay {
public:
    // `only_first`: the sink gets sessions and each core's first records, and nothing else.
    explicit Replay(SessionSink& sink, bool only_first = false)
        : sink_(sink), only_first_(only_first) {}

    bool has_memory() const { return decompress_.has_memory(); }
    // False: the sink gets nothing of such a chunk, so its payload need not be looked at.
    bool needs(Type type) const {
        return !only_first_ || type == Type::session ||
               (type == Type::trace && started_ != hello_cores_);
    }
    // Takes a chunk's payload; its CRC is right. False: malformed; the sink got the readable part.
    bool chunk(Type type, std::span<const std::uint8_t> payload);
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
    const bool only_first_;
    Decompressor decompress_;
    BlockReader block_;
    bool open_ = false;
    std::uint64_t session_ = 0;  // its number in the file
    unsigned hello_cores_ = 0;   // the session's number of cores
    struct Core {
        std::uint64_t next_index = 0;
        std::uint64_t missing = 0;  // all records that are missing before `next_index`
        std::uint64_t clock = 0;    // of the last record
    };
    std::array<Core, 256> cores_{};
    unsigned started_ = 0;       // cores of the session that have a record
    std::uint64_t records_ = 0;  // records that the sink got
    std::uint64_t gaps_ = 0;     // missing blocks
    std::uint64_t sessions_ = 0;
    std::uint64_t malformed_ = 0;  // profile, moved and tasks frames
    LineCounters line_;
    StreamCounters stream_;
};

}  // namespace nopscope::host::nsc
