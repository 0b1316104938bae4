// SPDX-License-Identifier: Apache-2.0
// One pump and three cores.
#include "tests/unit/tracer/pump_fixture.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>

namespace nopscope {
namespace {

using protocol::Kind;
using namespace testing;

class PumpCores : public PumpTest {
protected:
    PumpCores() : PumpTest(3) {}
    void call_on(unsigned number, std::uint32_t site) {
        machine.current = number;
        (void)call(site);
        machine.current = 0;
    }
};

// Each stream of each core must be numbered from 0 without a gap.
void expect_whole_sequences(const Received& received) {
    std::map<std::pair<protocol::Stream, unsigned>, std::uint32_t> next;
    for (const protocol::FrameHeader& header : received.headers) {
        EXPECT_EQ(header.sequence, (next[{header.stream, header.core}]++));
    }
}

TEST_F(PumpCores, EachCoresRecordsInItsOwnFrames) {
    open();
    for (std::uint32_t i = 0; i < 900; ++i) call_on(i % 3, 0x2000 + 0x1000 * (i % 3) + 8 * (i / 3));
    pump.flush();
    const Received received = receive();
    expect_whole_sequences(received);
    for (unsigned core = 0; core < 3; ++core) {
        const auto events = without_own(received.events_of.at(core));
        ASSERT_EQ(events.size(), 300u);
        for (std::uint32_t i = 0; i < 300; ++i) {
            EXPECT_EQ(events[i].site_offset, 0x1000 + 0x1000 * core + 8 * i);
            EXPECT_EQ(events[i].index, i);
        }
    }
}

TEST_F(PumpCores, ABusyCoreDoesNotKeepTheOthersWaiting) {
    open();
    for (std::uint32_t i = 0; i < 600; ++i) call_on(0, 0x2000);
    for (std::uint32_t i = 0; i < 150; ++i) call_on(2, 0x2000);
    pump.flush();
    std::vector<unsigned> order;
    for (const protocol::FrameHeader& header : receive().headers) {
        if (header.stream == protocol::Stream::trace) order.push_back(header.core);
    }
    ASSERT_GE(order.size(), 3u);
    EXPECT_NE(std::find(order.begin(), order.begin() + 2, 2u), order.begin() + 2)
        << "they take turns";
}

TEST_F(PumpCores, StatsOfEachCore) {
    open();
    const unsigned made[] = {3000, 10, 0};
    for (unsigned core = 0; core < 3; ++core) {
        for (unsigned i = 0; i < made[core]; ++i) call_on(core, 0x2000);
    }
    cores[1].shadow_stack_full = 5;
    cores[2].off_stack = 6;
    pump.finish();
    const Received received = receive();
    expect_whole_sequences(received);
    for (unsigned core = 0; core < 3; ++core) {
        const protocol::Stats last = received.stats_of.at(core).back();
        EXPECT_EQ(last.final, 1u);
        EXPECT_EQ(last.generated, made[core]);
        EXPECT_EQ(last.generated, last.delivered + last.dropped);
        EXPECT_EQ(last.shadow_stack_full, core == 1 ? 5u : 0u);
        EXPECT_EQ(last.off_stack, core == 2 ? 6u : 0u);
    }
    EXPECT_GT(received.stats_of.at(0).back().dropped, 0u);
    EXPECT_EQ(received.stats_of.at(1).back().dropped, 0u);
}

TEST_F(PumpCores, StatsGoRoundEverySecond) {
    open();
    for (int i = 0; i < 3000; ++i) {
        pump.run();
        machine.now += hz / 1000;
    }
    const Received received = receive();
    for (unsigned core = 0; core < 3; ++core) {
        EXPECT_GE(received.stats_of.at(core).size(), 2u) << core;
    }
}

// ---- another core pumps ----

std::function<void()> on_write;  // called in the middle of core 0's pump

bool write_and_call(std::uint8_t byte) {
    if (on_write) std::exchange(on_write, nullptr)();
    return try_write(byte);
}

TEST_F(PumpCores, WhileAnotherCorePumps) {
    open(Mode::lossless);
    config.output.try_write = write_and_call;
    pump.open(config, hello, 7);
    for (unsigned i = 0; i < ring_bytes / record_bytes * 5 / 8; ++i) call_on(0, 0x2000);
    bool asked = false;
    on_write = [&] {
        EXPECT_FALSE(pump.make_room()) << "on the core that pumps: it is below";
        machine.current = 1;
        EXPECT_TRUE(pump.make_room()) << "its ring has room";
        pump.run();  // does nothing
        pump.console("core 1\n", 7);
        machine.current = 0;
        asked = true;
    };
    pump.flush();
    EXPECT_TRUE(asked);
    const Received received = receive();
    EXPECT_EQ(received.console, "core 1\n");
    expect_whole_sequences(received);
}

// Otherwise the interrupt would do the work it interrupted, and be charged with it.
TEST_F(PumpCores, AnInterruptOfTheTracersWorkLeavesThePumpToIt) {
    open(Mode::lossless);
    pump.flush();
    for (unsigned i = 0; i < 5000; ++i) call_on(0, 0x2000);
    const std::size_t before = line_bytes.size();
    pump.charge_to_tracer([&] { pump.run(); });
    EXPECT_EQ(line_bytes.size(), before);
    pump.run();
    EXPECT_GT(line_bytes.size(), before);
}

std::function<void()> on_frame;  // called at a frame's last byte

bool write_and_go_on(std::uint8_t byte) {
    if (byte == 0) on_frame();
    return try_write(byte);
}

// The other cores record faster than this core packs, on a line that accepts all bytes.
TEST_F(PumpCores, APumpEndsThoughTheRingsStayFull) {
    open();
    config.output.try_write = write_and_go_on;
    pump.open(config, hello, 7);
    const auto fill = [this] {
        for (unsigned i = 0; i < 3000; ++i) call_on(i % 3, 0x2000);
    };
    fill();
    std::vector<std::uint64_t> held;
    for (const Core& core : cores) held.push_back(core.cursor);
    unsigned frames = 0;
    on_frame = [&] {
        if (++frames < 1000) fill();
    };
    pump.run();
    EXPECT_LT(frames, 100u);
    for (unsigned core = 0; core < 3; ++core) EXPECT_GE(cores[core].tail, held[core]);
}

thread_local unsigned this_core = 0;

// Enough of a machine for real threads. Each thread is a core.
struct ThreadedMachine : sim::SimMachine {
    ThreadedMachine() : SimMachine(0, 64, {.cores = 3}) {}
    std::uint64_t mask_interrupts() { return std::this_thread::yield(), 0; }
    void restore_interrupts(std::uint64_t) {}
    std::uint64_t clock() { return ++ticks; }
    unsigned core() { return this_core; }
    std::atomic<std::uint64_t> ticks = 1'000'000;
};

TEST(PumpThreads, LosslessFromThreeCoresAtOnce) {
    line_bytes.clear();
    transmitter_room = ~std::size_t{0};
    CoreUnderTest t(3);
    ThreadedMachine machine;
    decoders.clear();
    const auto encoders = std::make_unique<protocol::TraceEncoder[]>(3);
    Pump<ThreadedMachine> pump(machine, t.cores, encoders.get());
    Config config;
    config.output.try_write = try_write;
    config.clock_hz = 1'000'000;
    config.cores = 3;
    config.mode = Mode::lossless;
    protocol::Hello hello;
    hello.clock_hz = config.clock_hz;
    hello.text_base = 0x1000;
    pump.open(config, hello, 7);

    constexpr std::uint32_t records = 20'000;
    std::atomic<unsigned> refused = 0;
    const auto produce = [&](unsigned number) {
        this_core = number;
        Core& core = t.cores[number];
        for (std::uint32_t i = 0; i < records; ++i) {
            const auto record = protocol::make_record(Kind::call, 0x400 + i % 512, 0);
            while (
                !ring_put(machine, core, record, __atomic_load_n(&core.limit, __ATOMIC_RELAXED))) {
                if (!pump.make_room()) ++refused;
            }
        }
    };
    std::vector<std::thread> threads;
    for (const unsigned number : {1u, 2u}) threads.emplace_back(produce, number);
    produce(0);
    for (std::thread& thread : threads) thread.join();
    pump.finish();

    EXPECT_EQ(refused, 0u);
    const Received received = receive();
    expect_whole_sequences(received);
    for (unsigned number = 0; number < 3; ++number) {
        const auto events = without_own(received.events_of.at(number));
        ASSERT_EQ(events.size(), records);
        for (std::uint32_t i = 0; i < records; ++i) {
            ASSERT_EQ(events[i].site_offset, 0x1000 + 8 * (i % 512));
        }
        EXPECT_EQ(received.stats_of.at(number).back().dropped, 0u);
    }
}

}  // namespace
}  // namespace nopscope
