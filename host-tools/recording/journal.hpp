// SPDX-License-Identifier: Apache-2.0
// Writes a SessionReader's calls into a recording.
//
// It collects each core's records until they fill a block or until flush(), and all other items in
// one list. Written data survives this process. So a caller that calls flush() four times a second
// loses at most a quarter of a second.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "host-tools/line/stream/session.hpp"
#include "host-tools/recording/block.hpp"
#include "host-tools/recording/writer.hpp"
#include "host-tools/recording/zstd.hpp"

namespace nopscope::host::nsc {

class Journal final : public SessionSink {
public:
    explicit Journal(Writer& file) : file_(file) {}

    // For a recording that begins inside a session; call it after on_session(). The core's records
    // before `index` are not in it. The last of them has `clock`; the core is in `context`.
    void begin_at(unsigned core, std::uint64_t index, std::uint64_t clock, std::uint32_t context);
    // The same for each core: this recording continues the one of `before`.
    void begin_after(const Journal& before);
    // Writes everything so far, and the reader's present counters if they have changed. Throws
    // Error if a write failed, now or before.
    void flush(const LineCounters& line, const StreamCounters& stream, std::uint64_t unix_ns);

    void on_session(const HelloInfo& hello) override;
    void on_trace(unsigned core, const TraceBatch& batch) override;
    void on_missing(unsigned core, const MissingPart& part) override;
    void on_stats(unsigned core, const protocol::Stats& stats) override;
    void on_clock_pair(const ClockPair& pair) override;
    bool on_profile(unsigned core, const std::uint8_t* payload, std::size_t count) override;
    bool on_profile_events(unsigned core, const std::uint8_t* payload, std::size_t count) override;
    bool on_moved(const std::uint8_t* payload, std::size_t count) override;
    bool on_tasks(const std::uint8_t* payload, std::size_t count) override;
    void on_reply(const protocol::Reply& reply) override;
    void on_console(std::string_view text) override;
    void on_raw_text(std::string_view text) override;
    void on_corrupt(std::span<const std::uint8_t> chunk) override;
    void on_unused(const protocol::FrameHeader& header,
                   std::span<const std::uint8_t> payload) override;

private:
    struct Core {
        BlockHeader header;  // of the block that `records` will be
        std::vector<protocol::StampedRecord> records;
        std::uint64_t next_index = 0;
        std::uint64_t missing = 0;  // all records that are missing before `next_index`
        std::uint32_t context = 0;  // the one that the core runs
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
