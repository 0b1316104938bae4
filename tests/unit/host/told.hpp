// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "host-tools/target/stream/session.hpp"

namespace nopscope::host::test {

// Writes down all that a sink is told: each core's records in order, and the rest in order.
struct Told : SessionSink {
    using Record = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;  // index, word, clock
    using Gap = std::tuple<std::uint64_t, std::uint32_t, std::uint64_t>;     // index, context, base

    void on_session(const HelloInfo& hello) override {
        ++session;
        rest.push_back("session " + std::to_string(hello.session) + " " + hello.payload);
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
        std::string text = "missing " + std::to_string(core);
        for (const auto field : missing_fields) text += " " + std::to_string(part.*field);
        rest.push_back(text);
        lost += part.lost;
    }
    void on_stats(unsigned core, const protocol::Stats& stats) override {
        protocol::Byte bytes[256];
        item("stats", {bytes, protocol::write_stats(stats, bytes)}, core);
    }
    void on_clock_pair(const ClockPair& pair) override {
        pairs.push_back(pair);
        rest.push_back("pair " + std::to_string(pair.clock) + " " + std::to_string(pair.utc_ns) +
                       " " + std::to_string(pair.error_ns) + (pair.exchanged ? " exchanged" : ""));
    }
    bool on_profile(unsigned core, const std::uint8_t* payload, std::size_t size) override {
        item("profile", {payload, size}, core);
        return true;
    }
    bool on_moved(const std::uint8_t* payload, std::size_t size) override {
        item("moved", {payload, size}, 0);
        return true;
    }
    bool on_tasks(const std::uint8_t* payload, std::size_t size) override {
        item("tasks", {payload, size}, 0);
        return true;
    }
    void on_reply(const protocol::Reply& reply) override {
        item("reply " + std::to_string(reply.number) + " " +
                 std::to_string(static_cast<unsigned>(reply.what)) + " " +
                 std::to_string(static_cast<unsigned>(reply.answer)),
             {reply.result, reply.result_bytes}, 0);
    }
    void on_console(std::string_view text) override {
        rest.push_back("console " + std::string(text));
    }
    void on_raw_text(std::string_view text) override {
        rest.push_back("text " + std::string(text));
    }
    void on_corrupt(std::span<const std::uint8_t> chunk) override { item("corrupt", chunk, 0); }
    void on_unused(const protocol::FrameHeader& header,
                   std::span<const std::uint8_t> payload) override {
        item("unused " + std::to_string(static_cast<unsigned>(header.stream)) + " " +
                 std::to_string(header.session) + " " + std::to_string(header.sequence),
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
    void item(const std::string& what, std::span<const std::uint8_t> bytes, unsigned core) {
        rest.push_back(what + " " + std::to_string(core) + " " +
                       std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    }
};

}  // namespace nopscope::host::test
