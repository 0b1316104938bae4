// SPDX-License-Identifier: Apache-2.0
// A line's bytes from a simulated target, and what a SessionReader makes of them.
#pragma once

#include "host-tools/target/stream/session.hpp"
#include "tests/unit/host/play.hpp"
#include "tests/unit/host/prelude.hpp"

namespace nopscope::host::test {

struct Sink : SessionSink {
    void on_session(const HelloInfo& hello) override { sessions.push_back(hello.session); }
    void on_session_end() override { ++ended; }
    void on_trace(unsigned core, const TraceBatch& batch) override {
        gaps += batch.gap;
        for (std::size_t i = 0; i < batch.records.size(); ++i) {
            indices.push_back({core, batch.first_index + i});
            records.push_back(batch.records[i].record);
        }
    }
    void on_missing(unsigned, const MissingPart& part) override { missing.push_back(part); }
    void on_clock_pair(const ClockPair& pair) override { pairs.push_back(pair); }
    void on_console(std::string_view text) override { console += text; }
    void on_raw_text(std::string_view text) override { raw += text; }

    std::vector<std::uint16_t> sessions;
    std::vector<std::pair<unsigned, std::uint64_t>> indices;  // by core
    std::vector<protocol::Record> records;                    // with these indices
    std::vector<MissingPart> missing;
    std::vector<ClockPair> pairs;
    std::string console;
    std::string raw;
    int ended = 0;
    int gaps = 0;
};

class Session : public testing::Test {
protected:
    virtual void read() {
        reader.feed(target.bytes);
        reader.finish();
        counters = reader.counters();
        EXPECT_EQ(counters.generated, counters.delivered + counters.dropped + counters.lost);
        EXPECT_EQ(counters.delivered, sink.indices.size());
    }
    // Reads what the target has made since the last time.
    StreamCounters counted() {
        reader.feed(std::exchange(target.bytes, {}));
        return reader.counters();
    }
    // The counters that are not zero. Without those that others add up to, and of one session that
    // is complete: "delivered 8, lost 2, gaps 1".
    std::string told() const {
        std::istringstream names(
            "generated delivered dropped overwritten aggregated filtered lost gaps lost_frames "
            "duplicate_frames repeated_records undecoded_frames malformed_frames unknown_frames "
            "frames_without_hello other_image_sessions inconsistent shadow_stack_full off_stack "
            "console_dropped sessions unfinished_sessions commands_refused recovered_sessions "
            "stray_returns generated_at_least undeferred");
        EXPECT_EQ(counters.generated, counters.delivered + counters.dropped + counters.lost +
                                          counters.overwritten + counters.filtered);
        std::string text, name;
        for (const auto field : stream_fields) {
            names >> name;
            const std::uint64_t usual = name == "sessions" ? 1 : 0;
            if (name != "generated" && counters.*field != usual)
                text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, counters.*field);
        }
        EXPECT_EQ(name, "undeferred");
        return text + (counters.complete ? "" : ", not complete");
    }
    void four_calls() {
        for (std::uint32_t i = 0; i < 4; ++i) target.ret(target.entry(i));
    }
    void hello_and_four_calls() {
        target.hello();
        four_calls();
        target.flush();
    }
    void finish_and_read() {
        target.finish();
        read();
    }
    void stats(const protocol::Stats& of) {
        target.frame(protocol::Stream::stats, 0, protocol::write_stats(of, target.payload()));
    }
    void two_megabytes() {
        for (int i = 0; i < 600'000; ++i) target.entry(1, 1u << 20);
        target.flush();
    }

    TargetStream target;
    Play<TargetStream> play{target};
    Sink sink;
    SessionReader reader{sink};
    StreamCounters counters;
};

}  // namespace nopscope::host::test
