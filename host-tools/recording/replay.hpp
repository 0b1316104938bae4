// SPDX-License-Identifier: Apache-2.0
// The chunks of a recording -> what a SessionSink was told when it was made, and the counters.
#pragma once

#include <array>

#include "host-tools/target/stream/session.hpp"
#include "host-tools/recording/block.hpp"
#include "host-tools/recording/format.hpp"
#include "host-tools/recording/zstd.hpp"

namespace nopscope::host::nsc {

class Replay {
public:
    explicit Replay(SessionSink& sink) : sink_(sink) {}

    // One chunk's payload, whose CRC holds. False: malformed; what of it could be read was told.
    bool chunk(Type type, std::span<const std::uint8_t> payload);
    // The file is over. Once; no chunk comes after.
    void finish();

    // After finish(), so that every record counts where it is: those that were counted and are not
    // here are lost, those that came after the last counters are generated, too.
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
    unsigned hello_cores_ = 0;   // of the session: no core beyond has records or frames
    struct Core {
        std::uint64_t next_index = 0;
        std::uint64_t missing = 0;  // records before it, in sum
        std::uint64_t clock = 0;    // of the last record
    };
    std::array<Core, 256> cores_{};
    std::uint64_t records_ = 0;  // told
    std::uint64_t gaps_ = 0;     // where a block is missing
    std::uint64_t sessions_ = 0;
    std::uint64_t malformed_ = 0;  // profile and moved frames
    LineCounters line_;
    StreamCounters stream_;
};

}  // namespace nopscope::host::nsc
