// SPDX-License-Identifier: Apache-2.0
// A target made only of the wire format's writers. A test says what happened, and gets the bytes
// that a real target would send.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tracer/protocol/hello.hpp"
#include "tracer/protocol/moved.hpp"
#include "tracer/protocol/stats.hpp"
#include "tracer/protocol/tasks.hpp"
#include "tracer/protocol/trace_group.hpp"

namespace nopscope::host::test {

using protocol::Byte, protocol::Extended, protocol::Kind, protocol::Record, protocol::Stream;
using Bytes = std::vector<std::uint8_t>;

// The fields of a hello are those that it sends next.
class TargetStream : public protocol::Hello {
public:
    static constexpr std::uint64_t text_base = 0x40080000;

    TargetStream() {
        clock_hz = 1'000'000'000;
        site_count = 100;
        site_table_crc = 0x1234;
        line_bytes_per_second = 300000;
    }

    std::uint16_t session = 7;
    std::string build_id = "\x01\x02\x03\x04";
    std::string board = "virt";
    std::string image = "demo";
    protocol::Clock clock_source = protocol::Clock::timer;
    protocol::Stats state;  // the target's state in stats frames, if it sends one
    unsigned records_per_frame = 1000;
    bool groups_of_one = true;  // each trace frame is a key frame
    std::uint64_t clock = 1000;
    std::uint8_t on = 0;        // the core of records that are not of another one
    std::uint64_t left_at = 0;  // the index of the record with which a task left its core

    Bytes bytes;
    std::vector<std::size_t> frame_ends;  // offsets in `bytes` after each delimiter

    void hello() {
        protocol::Hello hello = *this;
        hello.text_base = text_base + load_bias;
        hello.build_id = as_text(build_id);
        hello.board = as_text(board);
        hello.image = as_text(image);
        hello.clock = clock_source;
        frame(Stream::hello, 0, protocol::write_hello(hello, builder_.payload()));
    }

    // Each of these returns the record's index. The clock first moves on by `ticks`.
    std::uint64_t entry(std::uint32_t site, std::uint64_t ticks = 10, std::uint8_t core = 0) {
        return record(Kind::entry, site, ticks, core);
    }
    std::uint64_t call(std::uint32_t site, std::uint64_t ticks = 10, std::uint8_t core = 0) {
        return record(Kind::call, site, ticks, core);
    }
    std::uint64_t ret(std::uint64_t entry, std::uint64_t ticks = 10, std::uint8_t core = 0,
                      bool unwound = false) {
        const auto payload = static_cast<std::uint32_t>(entry & protocol::entry_index_mask) << 1 |
                             (unwound ? 1u : 0u);
        return record(Kind::ret, payload, ticks, core);
    }
    std::uint64_t extended(Extended what, std::uint64_t ticks = 10, std::uint8_t core = 0) {
        return argument(what, 0, ticks, core);
    }
    std::uint64_t argument(Extended what, std::uint32_t argument, std::uint64_t ticks = 10,
                           std::uint8_t core = 0) {
        return record(Kind::extended, argument << 4 | static_cast<std::uint32_t>(what), ticks,
                      core);
    }
    // The core leaves the running context for its main one. Returns the index of that record.
    std::uint64_t leave(std::uint8_t core, std::uint64_t ticks = 10) {
        return argument(Extended::context, 0, ticks, core);
    }
    // The core runs a context that has left core `from` at index `after`.
    void arrive(std::uint32_t context, std::uint8_t core, std::uint8_t from, std::uint64_t after,
                std::uint64_t ticks = 10) {
        argument(Extended::context, context, ticks, core);
        argument(Extended::task, protocol::task_argument(protocol::TaskFact::moved, 1), 0, core);
        data({protocol::moved_data(from, after)}, core);
    }
    // How the core left the context before the last `context` record.
    void left(protocol::Left how, std::uint8_t core = 0) {
        argument(Extended::task, protocol::left_argument(how), 0, core);
    }
    void task_fact(protocol::TaskFact fact, std::uint64_t data, std::uint8_t core = 0) {
        with_data(Extended::task, protocol::task_argument(fact, 1), {data}, core);
    }
    // A record with data. A wide register value takes two data words.
    void arguments(std::uint32_t site, std::uint32_t mask, const std::vector<std::int64_t>& values,
                   std::uint8_t core = 0) {
        std::uint32_t wide = 0;
        std::vector<std::uint64_t> data{site};
        auto value = values.begin();
        for (unsigned n = 0; n < 8; ++n)
            if ((mask >> n & 1) != 0) wide |= add_value(data, *value++) << n;
        with_data(Extended::arguments, mask | wide << 8, data, core);
    }
    void result(std::uint32_t site, std::int64_t value, std::uint8_t core = 0) {
        std::vector<std::uint64_t> data{site};
        const std::uint32_t wide = add_value(data, value);
        with_data(Extended::result, wide, data, core);
    }
    void counter(std::uint32_t id, std::int64_t value, std::uint8_t core = 0) {
        std::vector<std::uint64_t> data;
        const std::uint32_t wide = add_value(data, value);
        with_data(Extended::counter, id << 1 | wide, data, core);
    }
    void with_data(Extended what, std::uint32_t argument, const std::vector<std::uint64_t>& data,
                   std::uint8_t core = 0) {
        if (core == 0) core = on;
        clock += 10;
        cores_[core].records.push_back({protocol::make_extended(what, argument, clock), clock});
        this->data(data, core);
    }
    void data(const std::vector<std::uint64_t>& data, std::uint8_t core = 0) {
        for (const std::uint64_t each : data)
            cores_[core].records.push_back({protocol::make_data(each), clock});
    }
    void tracer(std::uint64_t ticks) {
        extended(Extended::tracer_begin, 0);
        extended(Extended::tracer_end, ticks);
    }

    void drop(std::uint64_t count, std::uint8_t core = 0) { cores_[core].dropped += count; }

    // Sends the records so far.
    void flush() {
        for (auto& [number, core] : cores_) flush(number, core);
    }
    void flush(std::uint8_t core) { flush(core, cores_[core]); }
    // The records so far are overwritten in the ring and never sent.
    void lose() {
        for (auto& [number, core] : cores_) {
            core.first += core.records.size();
            for (const auto& stamped : core.records) core.pass(stamped.record);
            core.records.clear();
        }
    }

    void console(std::string_view text) {
        flush();
        frame(Stream::console, {text.begin(), text.end()});
    }
    void stats(bool final, std::uint8_t core = 0) {
        flush();
        const Core& of = cores_[core];
        protocol::Stats stats{.now = clock,
                              .generated = of.first + of.dropped,
                              .delivered = of.first,
                              .dropped = of.dropped,
                              .final = final,
                              .has_state = state.has_state};
        for (const auto field : protocol::state_fields) stats.*field = state.*field;
        frame(Stream::stats, core, protocol::write_stats(stats, builder_.payload()));
    }
    void moved(std::uint64_t moves, const std::vector<protocol::Move>& all) {
        flush();
        protocol::MovedWriter out(builder_.payload(), moves);
        for (const protocol::Move& move : all) out.put(move);
        frame(Stream::moved, 0, out.size());
    }
    static protocol::TaskName task_name(std::string_view name) {
        return {reinterpret_cast<const Byte*>(name.data()), name.size()};
    }
    // Each of `told` is TaskFacts or an ObjectName.
    template <typename... Told>
    void tasks(const Told&... told) {
        flush();
        protocol::TasksWriter out(builder_.payload());
        (out.put(told), ...);
        frame(Stream::tasks, 0, out.size());
    }
    void finish() {
        for (std::uint8_t core = 0; core < cores; ++core) stats(true, core);
    }

    // The target restarts: a new session begins, and all counters are zero.
    void reset() {
        ++session;
        cores_.clear();
        sequences_.clear();
    }

    // Resets the target, which continues the session. Each stream's numbers continue at `from`, and
    // each core's next frame is a key frame. `told`: hellos contain the number.
    void warm_reset(std::uint32_t from, bool told = true) {
        flush();
        recovered = true;
        sequences_from = told ? from : 0;
        sequences_.clear();
        first_sequence_ = from;
        for (auto& [number, core] : cores_) core.encoder->restart();
    }

    void raw(std::string_view text) { bytes.insert(bytes.end(), text.begin(), text.end()); }

    // A frame with this payload.
    void frame(Stream stream, const Bytes& payload, std::uint8_t core = 0) {
        std::copy(payload.begin(), payload.end(), builder_.payload());
        frame(stream, core, payload.size());
    }
    // A frame whose payload the caller has written to payload().
    Byte* payload() { return builder_.payload(); }
    void frame(Stream stream, std::uint8_t core, std::size_t payload_bytes) {
        const auto key = static_cast<unsigned>(stream) << 8 | core;
        const protocol::FrameHeader header{stream, core, session, sequence_of(key)++};
        const std::size_t at = bytes.size();
        bytes.resize(at + protocol::max_encoded_bytes);
        bytes.resize(at + builder_.encode(header, payload_bytes, bytes.data() + at));
        frame_ends.push_back(bytes.size());
    }
    // The next frame of this stream is never sent.
    void skip_sequence(Stream stream, std::uint8_t core = 0) {
        ++sequence_of(static_cast<unsigned>(stream) << 8 | core);
    }
    std::uint64_t next_index(std::uint8_t core = 0) {
        return cores_[core].first + cores_[core].records.size();
    }
    // As if this many records had been made before.
    void set_next_index(std::uint64_t index, std::uint8_t core = 0) { cores_[core].first = index; }

private:
    struct Core {
        std::vector<protocol::StampedRecord> records;
        // Copies share the encoder, which needs groups_of_one.
        std::shared_ptr<protocol::TraceEncoder> encoder =
            std::make_shared<protocol::TraceEncoder>();
        std::uint64_t first = 0;  // index of records[0]
        std::uint64_t dropped = 0;
        std::uint32_t context = 0;  // before records[0]

        void pass(Record record) {
            if (record.is(Extended::context)) context = record.argument();
        }
    };

    // Returns 1 if the value is wide.
    static std::uint32_t add_value(std::vector<std::uint64_t>& data, std::int64_t value) {
        const auto bits = static_cast<std::uint64_t>(value);
        data.push_back(bits & protocol::data_mask);
        if (!protocol::is_wide(bits)) return 0;
        data.push_back(bits >> protocol::data_bits);
        return 1;
    }
    static protocol::Text as_text(const std::string& text) {
        return {reinterpret_cast<const Byte*>(text.data()), static_cast<std::uint8_t>(text.size())};
    }
    std::uint64_t record(Kind kind, std::uint32_t payload, std::uint64_t ticks,
                         std::uint8_t number) {
        if (number == 0) number = on;
        clock += ticks;
        Core& core = cores_[number];
        core.records.push_back({protocol::make_record(kind, payload, clock), clock});
        const std::uint64_t index = core.first + core.records.size() - 1;
        if (core.records.size() >= records_per_frame) flush(number, core);
        return index;
    }
    void flush(std::uint8_t number, Core& core) {
        std::size_t at = 0;
        while (at < core.records.size()) {
            protocol::TraceEncoder& out = *core.encoder;
            if (groups_of_one) out.restart();
            out.begin(builder_.payload(), {.index = core.first,
                                           .clock = core.records[at].clock - 3,
                                           .dropped = core.dropped,
                                           .context = core.context});
            out.fill(core.records.size() - at, [&](Record& record, std::uint64_t& its_clock) {
                core.pass(core.records[at].record);
                record = core.records[at].record;
                its_clock = core.records[at++].clock;
                return true;
            });
            core.first = out.next_index();
            frame(Stream::trace, number, out.end());
        }
        core.records.clear();
    }

    std::uint32_t& sequence_of(unsigned key) {
        return sequences_.try_emplace(key, first_sequence_).first->second;
    }

    protocol::FrameBuilder builder_;
    std::uint32_t first_sequence_ = 0;
    std::map<std::uint8_t, Core> cores_;
    std::map<unsigned, std::uint32_t> sequences_;
};

}  // namespace nopscope::host::test
