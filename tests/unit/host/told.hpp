// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "host-tools/line/stream/session.hpp"
#include "tests/unit/host/prelude.hpp"

namespace nopscope::host::test {

// Writes down all that a sink is told: each core's records in order, and the rest in order.
struct Told : SessionSink {
    using Record = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;  // index, word, clock
    using Gap = std::tuple<std::uint64_t, std::uint32_t, std::uint64_t>;     // index, context, base

    void on_session(const HelloInfo& hello) override {
        ++session;
        rest.push_back(fmt::format("session {} {}", hello.session, hello.payload));
    }
    void on_session_end() override { rest.push_back("end"); }
    void on_trace(unsigned core, const TraceBatch& batch) override {
        if (batch.gap)
            gaps[{session, core}].push_back({batch.first_index, batch.context, batch.base});
        std::uint64_t index = batch.first_index;
        for (const auto& each : batch.records) {
            records[{session, core}].push_back({index++, each.record.word, each.clock});
            ++count;
        }
    }
    void on_missing(unsigned core, const MissingPart& part) override {
        rest.push_back(fmt::format("missing {}", core));
        for (const auto field : missing_fields) rest.back() += fmt::format(" {}", part.*field);
        lost += part.lost;
    }
    void on_stats(unsigned core, const protocol::Stats& stats) override {
        protocol::Byte bytes[256];
        item("stats", {bytes, protocol::write_stats(stats, bytes)}, core);
    }
    void on_clock_pair(const ClockPair& pair) override {
        pairs.push_back(pair);
        rest.push_back(fmt::format("pair {} {} {}{}", pair.clock, pair.utc_ns, pair.error_ns,
                                   pair.exchanged ? " exchanged" : ""));
    }
    bool on_profile(unsigned core, const std::uint8_t* payload, std::size_t size) override {
        return item("profile", {payload, size}, core);
    }
    bool on_moved(const std::uint8_t* payload, std::size_t size) override {
        return item("moved", {payload, size});
    }
    bool on_tasks(const std::uint8_t* payload, std::size_t size) override {
        return item("tasks", {payload, size});
    }
    void on_reply(const protocol::Reply& reply) override {
        item(fmt::format("reply {} {:d} {:d}", reply.number, fmt::underlying(reply.what),
                         fmt::underlying(reply.answer)),
             {reply.result, reply.result_bytes});
    }
    void on_console(std::string_view text) override {
        rest.push_back(fmt::format("console {}", text));
    }
    void on_raw_text(std::string_view text) override {
        rest.push_back(fmt::format("text {}", text));
    }
    void on_corrupt(std::span<const std::uint8_t> chunk) override { item("corrupt", chunk); }
    void on_unused(const protocol::FrameHeader& header,
                   std::span<const std::uint8_t> payload) override {
        item(fmt::format("unused {:d} {} {}", fmt::underlying(header.stream), header.session,
                         header.sequence),
             payload, header.core);
    }

    using Key = std::pair<unsigned, unsigned>;  // session, core
    unsigned session = 0;
    std::uint64_t count = 0;  // records
    std::uint64_t lost = 0;   // records in missing parts
    std::map<Key, std::vector<Record>> records;
    std::map<Key, std::vector<Gap>> gaps;
    std::vector<ClockPair> pairs;
    std::vector<std::string> rest;

private:
    // Returns true.
    bool item(const std::string& what, std::span<const std::uint8_t> bytes, unsigned core = 0) {
        rest.push_back(fmt::format("{} {} ", what, core) + std::string(bytes.begin(), bytes.end()));
        return true;
    }
};

}  // namespace nopscope::host::test
