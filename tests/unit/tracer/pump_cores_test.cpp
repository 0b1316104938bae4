// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/tracer/pump_fixture.hpp"

#include <atomic>
#include <thread>

namespace nopscope::testing::pump_cores_test {

struct PumpCores : PumpTest {
    PumpCores() : PumpTest(3) {}
    void calls_on(unsigned number, unsigned count, std::uint32_t site = 0x2000) {
        machine.current = number;
        calls(count, site);
        machine.current = 0;
    }
};

// Each stream of each core must be numbered from 0 without a gap.
void expect_whole_sequences(const Received& received) {
    std::map<std::pair<Stream, unsigned>, std::uint32_t> next;
    for (const FrameHeader& header : received.headers)
        EXPECT_EQ(header.sequence, (next[{header.stream, header.core}]++));
}

TEST_F(PumpCores, ABusyCoreDoesNotKeepTheOthersWaiting) {
    open();
    calls_on(0, 600);
    calls_on(2, 150);
    pump.flush();
    std::vector<unsigned> order;
    for (const FrameHeader& header : receive().headers)
        if (header.stream == Stream::trace) order.push_back(header.core);
    ASSERT_GE(order.size(), 3u);
    EXPECT_NE(std::find(order.begin(), order.begin() + 2, 2u), order.begin() + 2)
        << "they take turns";
}

TEST_F(PumpCores, StatsOfEachCore) {
    open();
    const unsigned made[] = {3000, 10, 0};
    for (unsigned core = 0; core < 3; ++core) calls_on(core, made[core]);
    cores[1].shadow_stack_full = 5;
    cores[2].off_stack = 6;
    const Received received = finished();
    expect_whole_sequences(received);
    for (unsigned core = 0; core < 3; ++core) {
        const Stats last = received.stats_of.at(core).back();
        EXPECT_EQ(tuple(last.final, last.generated, last.shadow_stack_full, last.off_stack),
                  tuple(1u, made[core], core == 1 ? 5u : 0u, core == 2 ? 6u : 0u));
    }
    EXPECT_GT(received.stats_of.at(0).back().dropped, 0u);
    EXPECT_EQ(received.stats_of.at(1).back().dropped, 0u);
}

TEST_F(PumpCores, StatsGoRoundEverySecond) {
    open();
    run(3000, hz / 1000);
    const Received received = receive();
    for (unsigned core = 0; core < 3; ++core)
        EXPECT_GE(received.stats_of.at(core).size(), 2u) << core;
}

TEST_F(PumpCores, WhileAnotherCorePumps) {
    open(Mode::lossless);
    calls_on(0, slots * 5 / 8);
    bool came = false;
    before_byte = [&](std::uint8_t) {
        if (std::exchange(came, true)) return;
        EXPECT_FALSE(pump.make_room()) << "on the core that pumps: it is below";
        machine.current = 1;
        EXPECT_TRUE(pump.make_room()) << "its ring has room";
        pump.run();  // does nothing
        pump.console("core 1\n", 7);
        machine.current = 0;
    };
    pump.flush();
    EXPECT_TRUE(came);
    const Received received = receive();
    EXPECT_EQ(received.console, "core 1\n");
    expect_whole_sequences(received);
}

// Otherwise the interrupt would do the work it interrupted, and be charged with it.
TEST_F(PumpCores, AnInterruptOfTheTracersWorkLeavesThePumpToIt) {
    open(Mode::lossless);
    pump.flush();
    calls_on(0, 5000);
    const std::size_t before = line_bytes.size();
    pump.charge_to_tracer([&] { pump.run(); });
    EXPECT_EQ(line_bytes.size(), before);
    pump.run();
    EXPECT_GT(line_bytes.size(), before);
}

// The other cores record faster than this core packs, on a line that accepts all bytes.
TEST_F(PumpCores, APumpEndsThoughTheRingsStayFull) {
    open();
    const auto fill = [this] {
        for (const unsigned number : {0u, 1u, 2u}) calls_on(number, 1000);
    };
    fill();
    std::vector<std::uint64_t> held;
    for (const Core& core : cores) held.push_back(core.cursor);
    unsigned frames = 0;
    before_byte = [&](std::uint8_t byte) {
        if (byte == 0 && ++frames < 1000) fill();
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

using PumpThreads = PumpCores;

TEST_F(PumpThreads, LosslessFromThreeCoresAtOnce) {
    open(Mode::lossless);
    ThreadedMachine machine;
    Pump<ThreadedMachine> pump(machine, cores, encoders.get());
    pump.open(config, hello, 7);

    constexpr std::uint32_t records = 20'000;
    std::atomic<unsigned> refused = 0;
    const auto produce = [&](unsigned number) {
        this_core = number;
        Core& core = cores[number];
        for (std::uint32_t i = 0; i < records; ++i) {
            const auto record = make_record(Kind::call, 0x400 + 512 * number + i % 512, 0);
            while (!ring_put(machine, core, record, __atomic_load_n(&core.limit, __ATOMIC_RELAXED)))
                if (!pump.make_room()) ++refused;
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
        for (std::uint32_t i = 0; i < records; ++i)
            ASSERT_EQ(events[i].site_offset, 0x1000 + 0x1000 * number + 8 * (i % 512));
        std::uint64_t index = 0;
        for (const Event& event : received.events_of.at(number)) ASSERT_EQ(event.index, index++);
        EXPECT_EQ(received.stats_of.at(number).back().dropped, 0u);
    }
}

}  // namespace nopscope::testing::pump_cores_test
