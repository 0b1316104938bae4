// SPDX-License-Identifier: Apache-2.0
// What a SessionReader tells, into a recording.
//
// Records gather by core until there is a block of them or flush() is called; all else gathers in
// one list. What is written survives this process, so whoever calls flush() four times a second
// loses a quarter of one at most.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "host-tools/target/stream/session.hpp"
#include "host-tools/recording/block.hpp"
#include "host-tools/recording/writer.hpp"
#include "host-tools/recording/zstd.hpp"

namespace nopscope::host::nsc {

class Journal final : public SessionSink {
public:
    explicit Journal(Writer& file) : file_(file) {}

    // In the middle of a session, after on_session(): a core's records before `index` are not for this recording.
    // `clock`: of the last of them; `context`: that the core is in.
    void begin_at(unsigned core, std::uint64_t index, std::uint64_t clock, std::uint32_t context);
    // The same, for each core: its records go on behind those of `before`.
    void begin_after(const Journal& before);
    // Everything told so far, and the reader's counters of now, if they are others than the last time.
    // Throws Error: something could not be written, now or before.
    void flush(const LineCounters& line, const StreamCounters& stream, std::uint64_t unix_ns);

    void on_session(const HelloInfo& hello) override;
    void on_trace(unsigned core, const TraceBatch& batch) override;
    void on_missing(unsigned core, const MissingPart& part) override;
    void on_stats(unsigned core, const protocol::Stats& stats) override;
    void on_clock_pair(const ClockPair& pair) override;
    bool on_profile(unsigned core, const std::uint8_t* payload, std::size_t count) override;
    bool on_profile_events(unsigned core, const std::uint8_t* payload, std::size_t count) override;
    bool on_moved(const std::uint8_t* payload, std::size_t count) override;
    void on_reply(const protocol::Reply& reply) override;
    void on_console(std::string_view text) override;
    void on_raw_text(std::string_view text) override;
    void on_corrupt(std::span<const std::uint8_t> chunk) override;
    void on_unused(const protocol::FrameHeader& header, std::span<const std::uint8_t> payload) override;

private:
    struct Core {
        BlockHeader header;  // of the block that gathers
        std::vector<protocol::StampedRecord> records;
        std::uint64_t next_index = 0;
        std::uint64_t missing = 0;  // records before it, in sum
        std::uint32_t context = 0;  // that the core is in
        std::uint64_t clock = 0;    // of its last record
    };
    void add(Core& core, std::uint64_t index, std::span<const protocol::StampedRecord> records);
    void write_block_of(Core& core);
    void write_blocks();
    void item(Item what, unsigned core, std::span<const std::uint8_t> bytes);
    void write_items();

    Writer& file_;
    Compressor compress_;
    std::array<std::unique_ptr<Core>, 256> cores_{};
    std::uint64_t session_ = 0;
    Payload items_;
    Payload body_;
    LineCounters line_;  // as last written
    StreamCounters stream_;
};

}  // namespace nopscope::host::nsc
