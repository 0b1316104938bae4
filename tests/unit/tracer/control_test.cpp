// SPDX-License-Identifier: Apache-2.0
// The target does each command from the host once, whatever happens to its frames.
#include "tests/verification/simulator/control_target.hpp"

#include <gtest/gtest.h>

namespace nopscope::testing {
namespace {

using protocol::Answer;
using protocol::Command;

class ControlTest : public ::testing::Test {
protected:
    // Sends damaged bytes to a new target, which does nothing. The next command is done all the
    // same. Returns how many frames were refused.
    static std::uint64_t refused(const Bytes& damaged) {
        ControlTarget one;
        one.send(damaged);
        one.send({0});
        one.run();
        EXPECT_TRUE(one.done.empty() && one.sent.empty());
        EXPECT_GE(one.refused(), 1u);
        one.ask(1, Command::mark, {5});
        EXPECT_EQ(one.done.size(), 1u);
        return one.refused();
    }
    void run(unsigned times) {
        while (times-- > 0) target.run();
    }
    ControlTarget target;
    const Bytes baud_115200{0x00, 0xc2, 0x01, 0x00};
};

TEST_F(ControlTest, DoesACommandAndAnswers) {
    const SentReply reply = target.ask(1, Command::mark, {0x85, 0x01});
    EXPECT_EQ(reply, (SentReply{1, Command::mark, Answer::ok, {1}}));
    ASSERT_EQ(target.done.size(), 1u);
    EXPECT_EQ(target.done[0].what, Command::mark);
    EXPECT_EQ(target.done[0].value, 133u);
}

TEST_F(ControlTest, ACutCommandIsRefusedAndTheNextOneIsNot) {
    const Bytes whole = command_frame(1, Command::mark, {5});
    for (std::size_t cut = 1; cut + 1 < whole.size(); ++cut) {
        SCOPED_TRACE(cut);
        EXPECT_EQ(refused(Bytes(whole.begin(), whole.begin() + static_cast<long>(cut))), 1u);
    }
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

TEST_F(ControlTest, WhatIsLongerThanACommandIsRefused) {
    target.send(Bytes(5000, 0x55));
    run(20);
    target.send({0});
    target.ask(1, Command::start);
    EXPECT_EQ(target.done.size(), 1u);
    EXPECT_EQ(target.refused(), 1u);
}

TEST_F(ControlTest, TheSameNumberAgainRepeatsTheReplyAndDoesNothing) {
    const SentReply first = target.ask(5, Command::mark, {9});
    target.ask(6, Command::stop);
    EXPECT_EQ(target.ask(5, Command::mark, {9}), first);
    EXPECT_EQ(target.ask(5, Command::mark, {9}), first);
    EXPECT_EQ(target.done.size(), 2u);
    EXPECT_EQ(target.refused(), 0u);
}

TEST_F(ControlTest, ANumberThatHasPassedIsNeverDone) {
    for (std::uint32_t number = 10; number < 16; ++number) target.ask(number, Command::start);
    EXPECT_EQ(target.ask(10, Command::start).answer, Answer::stale);  // no longer kept
    EXPECT_EQ(target.ask(12, Command::stop).answer, Answer::stale);   // kept, of another command
    EXPECT_EQ(target.ask(9, Command::start).answer, Answer::stale);
    EXPECT_EQ(target.done.size(), 6u);
    EXPECT_EQ(target.refused(), 3u);
}

TEST_F(ControlTest, NumbersWrap) {
    target.ask(0x7fffffff, Command::start);
    target.ask(0xfffffffe, Command::start);
    target.ask(3, Command::start);
    EXPECT_EQ(target.done.size(), 3u);
    EXPECT_EQ(target.ask(0xffffffff, Command::start).answer, Answer::stale);
}

TEST_F(ControlTest, PingSaysTheLastNumberAndIsNone) {
    target.ask(41, Command::start);
    EXPECT_EQ(target.ask(3, Command::ping), (SentReply{3, Command::ping, Answer::ok, {41, 0}}));
    target.ask(42, Command::start);
    EXPECT_EQ(target.done.size(), 2u);
}

TEST_F(ControlTest, OtherSessionsAndUnknownOnesAreRefusedWithTheReason) {
    target.send(command_frame(1, Command::start, {}, target_session + 1));
    target.run();
    EXPECT_EQ(target.sent.back().answer, Answer::foreign_session);
    EXPECT_EQ(target.ask(1, static_cast<Command>(protocol::command_count)).answer, Answer::unknown);
    EXPECT_EQ(target.ask(1, static_cast<Command>(255)).answer, Answer::unknown);
    EXPECT_TRUE(target.done.empty());
    EXPECT_EQ(target.refused(), 3u);
    EXPECT_EQ(target.ask(1, Command::start).answer, Answer::ok);  // the number is still unused
}

TEST_F(ControlTest, AnEchoOfItsOwnFramesIsNotAnswered) {
    target.send(command_frame(1, Command::start, {}, target_session, protocol::Stream::reply));
    target.run();
    EXPECT_TRUE(target.sent.empty() && target.done.empty());
    EXPECT_EQ(target.refused(), 1u);
}

// Arguments that are missing or too many, yes-or-no bytes and rates out of their range, and ranges
// beyond the table.
TEST_F(ControlTest, MalformedArgumentsChangeNothing) {
    target.ask(1, Command::select_add, {1, 2});
    std::vector<std::pair<Command, Bytes>> malformed{{Command::mark, {}},
                                                     {Command::mark, {0x80}},
                                                     {Command::mark, {1, 1}},
                                                     {Command::start, {0}},
                                                     {Command::set_baud, {1, 2, 3}},
                                                     {Command::set_baud, {0, 0, 0, 0}},
                                                     {Command::set_baud, {0xff, 0xff, 0xff, 0xff}}};
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
          Bytes{5, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}}) {
        malformed.push_back({Command::select_add, ranges});
    }
    for (const auto& [what, arguments] : malformed) {
        EXPECT_EQ(target.ask(2, what, arguments).answer, Answer::malformed)
            << static_cast<unsigned>(what) << " " << ::testing::PrintToString(arguments);
        EXPECT_EQ(target.selected().count(), 2u);
    }
    EXPECT_TRUE(target.done.empty());
    EXPECT_EQ(target.ask(2, Command::set_capture, {1, 1, 2}).answer, Answer::ok);
}

// Sends every command with each number at the ends of a range or of a width. The target does the
// command with exactly this number, or refuses it and does nothing.
TEST_F(ControlTest, ANumberIsTakenAsItIsOrRefused) {
    std::uint32_t number = 0;
    for (unsigned which = 0; which < protocol::command_count; ++which) {
        const auto what = static_cast<Command>(which);
        if (what == Command::ping) continue;
        const std::uint64_t most = protocol::most_argument(what);
        unsigned taken = 0;
        for (unsigned bit = 0; bit < 64; ++bit) {
            const std::uint64_t power = std::uint64_t{1} << bit;
            for (const std::uint64_t value :
                 {power - 1, power, power + 1, most, most + 1, ~std::uint64_t{0}}) {
                protocol::Byte bytes[protocol::max_varint_bytes];
                protocol::Writer out(bytes);
                out.varint(value);
                target.done.clear();
                const SentReply reply =
                    target.ask(++number, what, Bytes(bytes, bytes + out.size()));
                const bool is_number = what == Command::mark || what == Command::snapshot ||
                                       what == Command::set_depth || what == Command::set_sample ||
                                       what == Command::set_min_duration;
                if (reply.answer != Answer::ok) {
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
        if (most != ~std::uint64_t{0} && what != Command::set_baud &&
            what != Command::set_subtree) {
            EXPECT_NE(taken, 0u) << which;
        }
    }
}

TEST_F(ControlTest, ASelectionIsWhatItsRangesSay) {
    target.ask(1, Command::select_add, {10, 3, 0, 2, 80, 5});  // 10..14, 95..99
    EXPECT_EQ(target.sent.back().result, Bytes{10});
    target.ask(2, Command::select_remove, {12, 1});
    EXPECT_EQ(target.sent.back().result, Bytes{9});
    for (std::uint32_t site = 0; site < 100; ++site) {
        EXPECT_EQ(target.selected().has(site),
                  (site >= 10 && site < 15 && site != 12) || site >= 95)
            << site;
    }
    EXPECT_EQ(target.ask(3, Command::select_clear).result, Bytes{0});
    EXPECT_EQ(target.selected().count(), 0u);
}

TEST_F(ControlTest, AnApplyNamesHowManyAreSelected) {
    target.ask(1, Command::select_add, {1, 2});
    EXPECT_EQ(target.ask(2, Command::set_recorder, {1, 0, 3}).answer, Answer::selection);
    EXPECT_TRUE(target.done.empty());
    EXPECT_EQ(target.ask(2, Command::set_recorder, {1, protocol::only_selected, 2}).answer,
              Answer::ok);
    ASSERT_EQ(target.done.size(), 1u);
    EXPECT_EQ(target.done[0].value, 1u);
    EXPECT_EQ(target.done[0].flags, protocol::only_selected);
    EXPECT_EQ(target.ask(3, Command::set_subtree, {1, 0}).answer, Answer::selection);
    EXPECT_EQ(target.ask(3, Command::set_subtree, {0, 0}).answer, Answer::ok);  // needs none
}

TEST_F(ControlTest, WhatCannotBeDoneNowIsTriedAgainAndThenGivenUp) {
    target.ready = false;
    target.send(command_frame(1, Command::set_recorder, {1, 0, 0}));
    target.send(command_frame(1, Command::set_recorder, {1, 0, 0}));  // while it is pending
    target.run();
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
    target.run();
    EXPECT_EQ(target.sent.back().answer, Answer::busy);
    target.ready = true;
    target.run();
    EXPECT_EQ(target.ask(2, Command::set_recorder, {1, 0, 0}).answer, Answer::busy);
    EXPECT_EQ(target.done.size(), 1u);
}

TEST_F(ControlTest, NothingIsReadWhileAReplyWaits) {
    target.sends = false;
    for (std::uint32_t number = 1; number < 50; ++number) {
        target.send(command_frame(number, Command::start));
    }
    run(100);
    EXPECT_EQ(target.done.size(), 1u);
    target.sends = true;
    run(100);
    EXPECT_EQ(target.done.size(), 49u);
    EXPECT_EQ(target.sent.size(), 49u);
}

TEST_F(ControlTest, TheRateChangesBehindTheReply) {
    target.sends = false;
    target.ask(1, Command::set_baud, baud_115200);
    EXPECT_TRUE(target.holds_line());
    target.run();
    EXPECT_EQ(target.rate, 3000000u);  // the reply has not left yet
    target.send_reply();
    target.quiet = false;
    target.run();
    EXPECT_EQ(target.rate, 3000000u);
    target.quiet = true;
    target.run();
    EXPECT_EQ(target.rate, 115200u);
    EXPECT_FALSE(target.holds_line());
}

TEST_F(ControlTest, ARateThatNobodySpeaksAtIsGivenUp) {
    target.ask(1, Command::set_baud, baud_115200);
    target.run();
    EXPECT_EQ(target.rate, 115200u);
    target.send({1, 2, 3, 0});  // noise is not a host
    target.now += 2 * ControlTarget::hz - 1;
    target.run();
    EXPECT_EQ(target.rate, 115200u);
    ++target.now;
    run(2);
    EXPECT_EQ(target.rate, 3000000u);
    EXPECT_FALSE(target.holds_line());
}

TEST_F(ControlTest, ARateThatAPingComesAtStays) {
    target.ask(1, Command::set_baud, baud_115200);
    target.run();
    target.ask(1, Command::ping);
    target.now += 10 * ControlTarget::hz;
    run(2);
    EXPECT_EQ(target.rate, 115200u);
}

TEST_F(ControlTest, AResetComesBehindItsReply) {
    target.sends = false;
    target.ask(1, Command::reset);
    EXPECT_EQ(target.resets, 0u);
    target.send_reply();
    target.run();
    EXPECT_EQ(target.resets, 1u);
}

TEST_F(ControlTest, ARefusedRateChangesNothing) {
    target.says = Answer::unsupported;
    EXPECT_EQ(target.ask(1, Command::set_baud, {1, 0, 0, 0}).answer, Answer::unsupported);
    target.run();
    EXPECT_EQ(target.rate, 3000000u);
    EXPECT_FALSE(target.holds_line());
}

}  // namespace
}  // namespace nopscope::testing
