// SPDX-License-Identifier: Apache-2.0
// The target does each command from the host once, whatever happens to its frames.
#include "tests/verification/simulator/control_target.hpp"
#include "tracer/core/steps.hpp"

#include <gtest/gtest.h>

#include <tuple>

namespace nopscope::testing::control_test {

using protocol::Answer, protocol::Command;
using std::tuple;

struct ControlTest : ::testing::Test {
    // A new target does nothing for these bytes, but the next command. Returns how many it refused.
    static std::uint64_t refused(const Bytes& damaged) {
        ControlTarget one;
        one.send(damaged);
        one.send({0});
        while (one.unread() != 0) one.run();
        EXPECT_TRUE(one.done.empty() && one.sent.empty());
        EXPECT_GE(one.refused(), 1u);
        one.ask(1, Command::mark, {5});
        EXPECT_EQ(one.done.size(), 1u);
        return one.refused();
    }
    void run(unsigned times = 1) {
        while (times-- > 0) target.run();
    }
    void ask(Answer answer, std::uint32_t number, Command what, const Bytes& arguments = {}) {
        EXPECT_EQ(target.ask(number, what, arguments).answer, answer)
            << number << " " << static_cast<unsigned>(what) << ::testing::PrintToString(arguments);
    }
    void set_baud(std::uint32_t number) {
        target.ask(number, Command::set_baud, {0x00, 0xc2, 0x01, 0x00});  // 115200
        run();
    }
    ControlTarget target;
};

TEST_F(ControlTest, DoesACommandAndAnswers) {
    const SentReply reply = target.ask(1, Command::mark, {0x85, 0x01});
    EXPECT_EQ(reply, (SentReply{1, Command::mark, Answer::ok, {1}}));
    ASSERT_EQ(target.done.size(), 1u);
    EXPECT_EQ(tuple(target.done[0].what, target.done[0].value), tuple(Command::mark, 133u));
}

// None of these is a command: a frame that is too long, the target's own frame that comes back, and
// a command that is cut.
TEST_F(ControlTest, WhatIsNoCommandIsRefusedAndTheNextOneIsNot) {
    std::vector<Bytes> none{Bytes(5000, 0x55), command_frame(1, Command::start, {}, target_session,
                                                             protocol::Stream::reply)};
    const Bytes whole = command_frame(1, Command::mark, {5});
    for (long cut = 1; cut + 1 < static_cast<long>(whole.size()); ++cut)
        none.emplace_back(whole.begin(), whole.begin() + cut);
    for (const Bytes& bytes : none) EXPECT_EQ(refused(bytes), 1u) << bytes.size();
}

TEST_F(ControlTest, EveryFlippedBitIsSeen) {
    const Bytes whole = command_frame(1, Command::set_recorder, {2, 0, 0});
    for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
        SCOPED_TRACE(bit);
        Bytes bytes = whole;
        bytes[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
        refused(bytes);
    }
}

TEST_F(ControlTest, TheSameNumberAgainRepeatsTheReplyAndDoesNothing) {
    const SentReply first = target.ask(5, Command::mark, {9});
    ask(Answer::ok, 6, Command::stop);
    for (unsigned again = 0; again < 2; ++again)
        EXPECT_EQ(target.ask(5, Command::mark, {9}), first);
    EXPECT_EQ(target.done.size(), 2u);
    EXPECT_EQ(target.refused(), 0u);
}

TEST_F(ControlTest, ANumberThatHasPassedIsNeverDone) {
    for (std::uint32_t number = 10; number < 16; ++number) ask(Answer::ok, number, Command::start);
    ask(Answer::stale, 10, Command::start);  // no longer kept
    ask(Answer::stale, 12, Command::stop);   // kept, of another command
    ask(Answer::stale, 9, Command::start);
    EXPECT_EQ(target.done.size(), 6u);
    EXPECT_EQ(target.refused(), 3u);
    // Numbers wrap.
    for (const std::uint32_t number : {0x7fffffffu, 0xfffffffeu, 3u})
        ask(Answer::ok, number, Command::start);
    EXPECT_EQ(target.done.size(), 9u);
    ask(Answer::stale, 0xffffffff, Command::start);
}

TEST_F(ControlTest, PingSaysTheLastNumberAndIsNone) {
    ask(Answer::ok, 41, Command::start);
    EXPECT_EQ(target.ask(3, Command::ping), (SentReply{3, Command::ping, Answer::ok, {41, 0}}));
    ask(Answer::ok, 42, Command::start);
    EXPECT_EQ(target.done.size(), 2u);
}

TEST_F(ControlTest, OtherSessionsAndUnknownOnesAreRefusedWithTheReason) {
    target.send(command_frame(1, Command::start, {}, target_session + 1));
    run();
    EXPECT_EQ(target.sent.back().answer, Answer::foreign_session);
    for (const unsigned what : {+protocol::command_count, 255u})
        ask(Answer::unknown, 1, static_cast<Command>(what));
    EXPECT_TRUE(target.done.empty());
    EXPECT_EQ(target.refused(), 3u);
    ask(Answer::ok, 1, Command::start);  // the number is still unused
}

TEST_F(ControlTest, MalformedArgumentsChangeNothing) {
    target.ask(1, Command::select_add, {1, 2});
    std::vector<std::pair<Command, Bytes>> malformed{{Command::start, {0}}};
    for (const Bytes& id : {Bytes{}, Bytes{0x80}, Bytes{1, 1}})
        malformed.push_back({Command::mark, id});
    for (const Bytes& rate : {Bytes{1, 2, 3}, Bytes(4, 0), Bytes(4, 0xff)})
        malformed.push_back({Command::set_baud, rate});
    for (unsigned byte = 2; byte < 256; ++byte) {
        const auto more = static_cast<std::uint8_t>(byte);
        malformed.push_back({Command::set_subtree, {more, 0}});
        malformed.push_back({Command::set_recorder, {1, more, 0}});
        malformed.push_back({Command::set_capture, {1, more, 0}});
    }
    for (const Bytes& ranges :
         {Bytes{100, 1}, Bytes{99, 2}, Bytes{3, 4, 93, 1}, Bytes{3, 0}, Bytes{3}, Bytes{3, 4, 5},
          Bytes{3, 1, 0x80}, Bytes{0xff, 0xff, 0xff, 0xff, 0x0f, 1},
          Bytes{0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01},
          Bytes{5, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}})
        malformed.push_back({Command::select_add, ranges});
    for (const auto& [what, arguments] : malformed) {
        ask(Answer::malformed, 2, what, arguments);
        EXPECT_EQ(target.selected().count(), 2u);
    }
    EXPECT_TRUE(target.done.empty());
    ask(Answer::ok, 2, Command::set_capture, {1, 1, 2});
}

// Each number at the ends of a range or of a width, with every command.
TEST_F(ControlTest, ANumberIsTakenAsItIsOrRefused) {
    std::uint32_t number = 0;
    for (unsigned which = 0; which < protocol::command_count; ++which) {
        const auto what = static_cast<Command>(which);
        if (what == Command::ping) continue;
        const std::uint64_t most = protocol::most_argument(what);
        const bool is_number = what == Command::mark || what == Command::snapshot ||
                               what == Command::set_depth || what == Command::set_sample ||
                               what == Command::set_min_duration;
        unsigned taken = 0;
        for (unsigned bit = 0; bit < 64; ++bit) {
            const std::uint64_t power = std::uint64_t{1} << bit;
            for (const std::uint64_t value :
                 {power - 1, power, power + 1, most, most + 1, ~std::uint64_t{0}}) {
                protocol::Byte bytes[protocol::max_varint_bytes];
                protocol::Writer out(bytes);
                out.varint(value);
                target.done.clear();
                const Bytes argument(bytes, bytes + out.size());
                if (target.ask(++number, what, argument).answer != Answer::ok) {
                    EXPECT_TRUE(target.done.empty());
                    EXPECT_TRUE(!is_number || value > most) << which << " " << value;
                    --number;
                } else if (is_number) {
                    ++taken;
                    ASSERT_EQ(target.done.size(), 1u);
                    EXPECT_EQ(target.done[0].value, value) << which;
                    EXPECT_LE(value, most) << which;
                }
            }
        }
        EXPECT_TRUE(taken != 0 || most == ~std::uint64_t{0} || what == Command::set_baud ||
                    what == Command::set_subtree)
            << which;
    }
}

TEST_F(ControlTest, ASelectionIsWhatItsRangesSay) {
    // 10..14, 95..99
    EXPECT_EQ(target.ask(1, Command::select_add, {10, 3, 0, 2, 80, 5}).result, Bytes{10});
    EXPECT_EQ(target.ask(2, Command::select_remove, {12, 1}).result, Bytes{9});
    for (std::uint32_t site = 0; site < 100; ++site) {
        EXPECT_EQ(target.selected().has(site),
                  (site >= 10 && site < 15 && site != 12) || site >= 95)
            << site;
    }
    EXPECT_EQ(target.ask(3, Command::select_clear).result, Bytes{0});
    EXPECT_EQ(target.selected().count(), 0u);
}

TEST_F(ControlTest, AnApplyNamesHowManyAreSelected) {
    ask(Answer::ok, 1, Command::select_add, {1, 2});
    ask(Answer::selection, 2, Command::set_recorder, {1, 0, 3});
    EXPECT_TRUE(target.done.empty());
    ask(Answer::ok, 2, Command::set_recorder, {1, protocol::only_selected, 2});
    ASSERT_EQ(target.done.size(), 1u);
    EXPECT_EQ(tuple(target.done[0].value, target.done[0].flags),
              tuple(1u, protocol::only_selected));
    ask(Answer::selection, 3, Command::set_subtree, {1, 0});
    ask(Answer::ok, 3, Command::set_subtree, {0, 0});  // needs none
}

TEST_F(ControlTest, WhatCannotBeDoneNowIsTriedAgainAndThenGivenUp) {
    target.ready = false;
    for (unsigned time = 0; time < 2; ++time)  // the second while the first is pending
        target.send(command_frame(1, Command::set_recorder, {1, 0, 0}));
    run();
    EXPECT_TRUE(target.sent.empty());
    EXPECT_NE(target.unread(), 0u);
    target.now = 500;
    target.ready = true;
    run(2);
    ASSERT_EQ(target.sent.size(), 2u);  // the reply, and its repetition
    EXPECT_EQ(target.sent[0], target.sent[1]);
    EXPECT_EQ(target.done.size(), 1u);

    target.ready = false;
    target.ask(2, Command::set_recorder, {1, 0, 0});
    target.now += ControlTarget::hz;
    run();
    EXPECT_EQ(target.sent.back().answer, Answer::busy);
    target.ready = true;
    run();
    ask(Answer::busy, 2, Command::set_recorder, {1, 0, 0});
    EXPECT_EQ(target.done.size(), 1u);
}

TEST_F(ControlTest, NothingIsReadWhileAReplyWaits) {
    target.sends = false;
    for (std::uint32_t number = 1; number < 50; ++number)
        target.send(command_frame(number, Command::start));
    run(100);
    EXPECT_EQ(target.done.size(), 1u);
    target.sends = true;
    run(100);
    EXPECT_EQ(target.done.size(), 49u);
    EXPECT_EQ(target.sent.size(), 49u);
}

TEST_F(ControlTest, TheRateChangesAndAResetComesBehindTheReply) {
    target.sends = false;
    set_baud(1);
    EXPECT_TRUE(target.holds_line());
    EXPECT_EQ(target.rate, 3000000u);  // the reply has not left yet
    target.send_reply();
    for (const bool quiet : {false, true}) {
        EXPECT_EQ(target.rate, 3000000u);
        target.quiet = quiet;
        run();
    }
    EXPECT_EQ(target.rate, 115200u);
    EXPECT_FALSE(target.holds_line());
    target.ask(2, Command::reset);
    EXPECT_EQ(target.resets, 0u);
    target.send_reply();
    target.run();
    EXPECT_EQ(target.resets, 1u);
}

TEST_F(ControlTest, ARateStaysOnlyIfAPingComesAtIt) {
    set_baud(1);
    target.send({1, 2, 3, 0});  // noise is not a host
    target.now += 2 * ControlTarget::hz - 1;
    target.run();
    EXPECT_EQ(target.rate, 115200u);
    ++target.now;
    run(2);
    EXPECT_EQ(target.rate, 3000000u);
    EXPECT_FALSE(target.holds_line());
    set_baud(2);
    target.ask(1, Command::ping);
    target.now += 10 * ControlTarget::hz;
    run(2);
    EXPECT_EQ(target.rate, 115200u);
}

TEST_F(ControlTest, ARefusedRateChangesNothing) {
    target.says = Answer::unsupported;
    ask(Answer::unsupported, 1, Command::set_baud, {1, 0, 0, 0});
    run();
    EXPECT_EQ(target.rate, 3000000u);
    EXPECT_FALSE(target.holds_line());
}

// ---- Requests with several steps, and each status that each step can return.

TEST(Steps, AfterATimeoutTheNextIsTakenAndAfterARefusalIsNot) {
    EXPECT_EQ(Steps().status(), Status::ok);
    constexpr unsigned statuses = static_cast<unsigned>(Status::events_refused) + 1;
    for (unsigned n = 0; n < statuses * statuses; ++n) {
        const auto first = static_cast<Status>(n / statuses);
        const auto second = static_cast<Status>(n % statuses);
        unsigned taken = 0;
        Steps steps;
        steps.then([&] { return ++taken, first; });
        EXPECT_EQ(tuple(steps.status(), steps.partly()), tuple(first, false));
        steps.then([&] { return ++taken, second; });
        const bool goes_on = first == Status::ok || first == Status::timeout;
        const bool refused = goes_on && second != Status::ok && second != Status::timeout;
        const bool late = first == Status::timeout || second == Status::timeout;
        EXPECT_EQ(taken, goes_on ? 2u : 1u);
        EXPECT_EQ(steps.partly(), refused);
        EXPECT_EQ(steps.status(), !goes_on  ? first
                                  : refused ? second
                                  : late    ? Status::timeout
                                            : Status::ok);
    }
}

}  // namespace nopscope::testing::control_test
