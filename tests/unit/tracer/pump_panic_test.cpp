// SPDX-License-Identifier: Apache-2.0
// The pump when an interrupt or a panic interrupts it.
#include "tests/unit/tracer/pump_fixture.hpp"

namespace nopscope::testing {
namespace {

using protocol::Kind;

struct Interrupted : PumpTest {
    void TestBody() override {}
    // When the pump unmasks interrupts for the n-th time, an interrupt comes and calls `work`.
    // Returns false if the pump unmasks them less often.
    template <typename Work>
    bool interrupted_at(unsigned n, Work work) {
        bool came = false;
        open();
        calls(300);
        machine.on_restore = [&] {
            if (came || n-- != 0) return;
            came = true;
            work();
        };
        pump.run();
        machine.on_restore = {};
        return came;
    }
    // Returns what a panic at this point leaves on the line.
    std::optional<Received> panicked_at(unsigned n) {
        std::optional<Received> line;
        interrupted_at(n, [&] {
            machine.on_restore = {};
            pump.enter_panic();
            line = receive();  // on a target, a panic does not return
        });
        return line;
    }
    // Returns the line's brackets if the interrupt at this point pumps, too, and has something to
    // send.
    std::optional<std::string> brackets_at(unsigned n) {
        if (!interrupted_at(n, [&] { pump.send_hello(), pump.run(); })) return {};
        return brackets(flushed());
    }
};
TEST(PumpPanics, InAnyInterruptOfThePumpNothingIsLost) {
    unsigned n = 0;
    for (;; ++n) {
        const std::optional<Received> received = Interrupted().panicked_at(n);
        if (!received) break;
        EXPECT_EQ(without_own(received->events).size(), 300u) << n;
    }
    EXPECT_GE(n, 4u);
}

// If a begin lies within another bracket, a reader takes the outer bracket's end as lost.
TEST(PumpInterrupted, ByAnotherTheBracketsDoNotNest) {
    unsigned two = 0;
    for (unsigned n = 0;; ++n) {
        const std::optional<std::string> brackets = Interrupted().brackets_at(n);
        if (!brackets) break;
        EXPECT_EQ(brackets->find("<<"), std::string::npos) << n << ": " << *brackets;
        EXPECT_EQ(brackets->find(">>"), std::string::npos) << n << ": " << *brackets;
        two += *brackets == "<><>";
    }
    EXPECT_GE(two, 1u);
}

// The encoder's model then contains records that no frame contains.
TEST_F(PumpTest, APanicWithinTheEncoderBeginsAGroup) {
    open();
    for (int i = 0; i < 300; ++i) call(0x2000 + 8 * (i % 5));
    EXPECT_EQ(without_own(flushed().events).size(), 300u);
    for (int i = 0; i < 100; ++i) call(0x2000 + 8 * (i % 5));
    protocol::Byte payload[protocol::max_payload_bytes];
    encoders[0].begin(payload, {.index = record_index(core.tail),
                                .clock = core.pumped_clock,
                                .dropped = 0,
                                .overwritten = 0,
                                .context = 0});
    int coded = 0;
    try {
        encoders[0].fill(100, [&](protocol::Record& record, std::uint64_t& clock) {
            if (coded++ == 50) throw 0;
            record = protocol::make_record(Kind::call, 0x7000 >> 3, 0);
            clock = core.pumped_clock;
            return true;
        });
    } catch (int) {
    }
    pump.enter_panic();
    const Received received = receive();
    EXPECT_EQ(without_own(received.events).size(), 100u);
}

TEST_F(PumpTest, ConsoleKeepsItsOrderAndLength) {
    open();
    std::string said;
    for (int i = 0; i < 500; ++i) {
        const std::string words = "line " + std::to_string(i) + "\n";
        pump.console(words.data(), words.size());
        said += words;
        if (i % 7 == 0) pump.run();
    }
    EXPECT_EQ(flushed().console, said);
}

TEST_F(PumpTest, PanicFinishesTheFrameOnTheLineAndSendsTheRest) {
    open(Mode::stream, 1000);
    calls(200);
    transmitter_room = 50;
    machine.now += hz;
    pump.run();  // stuck in the middle of a frame
    transmitter_room = any_number;
    pump.enter_panic();
    pump.console("dead\n", 5);
    const Received received = receive();
    EXPECT_EQ(without_own(received.events).size(), 200u);
    EXPECT_EQ(received.console, "dead\n");
}

}  // namespace
}  // namespace nopscope::testing
