// SPDX-License-Identifier: Apache-2.0
// The pump with a line in memory, which the wire format's own reader reads back.
#pragma once

#include "tests/unit/tracer/core_fixture.hpp"
#include "tracer/protocol/event.hpp"
#include "tracer/stream/pump.hpp"

namespace nopscope::testing {

using protocol::Byte, protocol::Event, protocol::FrameHeader;
using protocol::Hello, protocol::Stats, protocol::Stream;

inline std::vector<Byte> line_bytes;
inline constexpr std::size_t any_number = ~std::size_t{0};
inline std::size_t transmitter_room = 0;
// One decoder for each core. Each test begins with new ones.
inline std::map<unsigned, std::unique_ptr<protocol::TraceDecoder>> decoders;

inline std::function<void(std::uint8_t)> before_byte;  // called before a byte is written

inline bool try_write(std::uint8_t byte) {
    if (before_byte) before_byte(byte);
    if (transmitter_room == 0) return false;
    --transmitter_room;
    line_bytes.push_back(byte);
    return true;
}

struct Received {
    std::vector<Event> events;
    std::vector<protocol::GroupHeader> traces;
    std::vector<Hello> hellos;
    std::vector<Stats> stats;
    std::string console;
    std::vector<FrameHeader> headers;
    std::vector<std::pair<unsigned, std::vector<Byte>>> profiles;  // core, payload
    std::map<unsigned, std::vector<Event>> events_of;              // by core
    std::map<unsigned, std::vector<Stats>> stats_of;
    unsigned bad = 0;
};

inline void take(Received& received, std::vector<Byte>& chunk) {
    const protocol::ParsedFrame frame = protocol::parse_frame(chunk.data(), chunk.size());
    if (!frame.ok || frame.header.session != 7) {
        ++received.bad;
        return;
    }
    received.headers.push_back(frame.header);
    switch (frame.header.stream) {
    case Stream::hello:
        received.bad += !protocol::read_hello(frame.payload, frame.payload_bytes,
                                              received.hellos.emplace_back());
        break;
    case Stream::stats: {
        Stats& stats = received.stats.emplace_back();
        received.bad += !protocol::read_stats(frame.payload, frame.payload_bytes, stats);
        received.bad += stats.generated != stats.delivered + stats.dropped + stats.overwritten +
                                               stats.aggregated + stats.filtered;
        received.stats_of[frame.header.core].push_back(stats);
        break;
    }
    case Stream::console:
        received.console.append(reinterpret_cast<const char*>(frame.payload), frame.payload_bytes);
        break;
    case Stream::trace: {
        auto& decoder = decoders[frame.header.core];
        if (!decoder) decoder = std::make_unique<protocol::TraceDecoder>();
        received.bad += decoder->open(frame.payload, frame.payload_bytes) !=
                        protocol::TraceDecoder::Opened::ready;
        received.traces.push_back(decoder->header());
        std::uint64_t index = decoder->next_index();
        received.bad += !decoder->read([&](Record record, std::uint64_t clock) {
            received.events.push_back(protocol::event_of({record, clock}, index++));
            received.events_of[frame.header.core].push_back(received.events.back());
        });
        break;
    }
    case Stream::profile:
        received.profiles.emplace_back(
            frame.header.core, std::vector(frame.payload, frame.payload + frame.payload_bytes));
        break;
    default: break;
    }
}

// Takes all complete frames from the line. `cut`: the reader cannot read some of them.
inline Received receive(bool cut = false) {
    Received received;
    std::vector<Byte> chunk;
    for (const Byte byte : line_bytes) {
        if (byte != 0) {
            chunk.push_back(byte);
            continue;
        }
        take(received, chunk);
        chunk.clear();
    }
    line_bytes = chunk;
    EXPECT_TRUE(cut || received.bad == 0) << received.bad;
    return received;
}

inline bool is(const Event& event, Extended what) {
    return event.kind == Kind::extended && event.extended == what;
}
// The begins (`<`) and ends (`>`) of the tracer's work, in order.
inline std::string brackets(const Received& received) {
    std::string all;
    for (const Event& event : received.events) {
        if (is(event, Extended::tracer_begin)) all += '<';
        if (is(event, Extended::tracer_end)) all += '>';
    }
    return all;
}

struct PumpTest : ::testing::Test, CoreUnderTest {
    static constexpr std::uint64_t hz = 1'000'000;

    explicit PumpTest(unsigned count = 1) : CoreUnderTest(count) {
        line_bytes.clear();
        decoders.clear();
        before_byte = nullptr;
        transmitter_room = any_number;
        hello.clock_hz = hz;
        hello.text_base = 0x1000;
    }
    void open(Mode mode = Mode::stream, std::uint32_t bytes_per_second = 0) {
        config.output.try_write = try_write;
        config.cores = static_cast<unsigned>(cores.size());
        config.clock_hz = hz;
        config.mode = mode;
        config.line_bytes_per_second = bytes_per_second;
        for (Core& one : cores) one.lossless = mode == Mode::lossless;
        pump.open(config, hello, 7);
    }
    void run(unsigned times = 10, std::uint64_t ticks = hz / 100) {
        for (; times > 0; --times) {
            pump.run();
            machine.now += ticks;
        }
    }
    Received flushed() {
        pump.flush();
        return receive();
    }
    Received finished() {
        pump.finish();
        return receive();
    }
    // Writes a record into a slot that was claimed.
    void write_late(std::uint64_t position, const Record& record) {
        *ring_slot(core, position) = (record.word + recorder_excess(record)) ^ lap_mask(position);
    }
    void write_late(std::uint64_t position, std::uint32_t site) {
        write_late(position, make_record(Kind::call, site >> 3, machine.now));
    }
    // Switches as tracer/recorders/contexts.cpp does.
    void switch_to(std::uint32_t number) {
        const Locked locked(machine, core.context_lock);
        switch_context(core, number, machine.clock());
        ring_set_limit_locked(machine, core);
    }
    // Marks as tracer/recorders/triggers.cpp does.
    bool mark(std::uint32_t id) {
        return ring_put(machine, here(), make_extended(Extended::marker, id), mark_limit(here()));
    }
    Config config;
    Hello hello;
    std::unique_ptr<protocol::TraceEncoder[]> encoders =
        std::make_unique<protocol::TraceEncoder[]>(cores.size());
    Pump<sim::SimMachine> pump{machine, cores, encoders.get()};
};

inline std::vector<Event> without_own(const std::vector<Event>& events) {
    std::vector<Event> calls;
    for (const Event& event : events)
        if (event.kind != Kind::extended) calls.push_back(event);
    return calls;
}

}  // namespace nopscope::testing
