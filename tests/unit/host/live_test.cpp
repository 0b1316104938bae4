// SPDX-License-Identifier: Apache-2.0
// Views of a line while it is being read. The test feeds the source.
#include "host-tools/live/live.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>

#include "host-tools/base/error.hpp"
#include "host-tools/live/rates.hpp"
#include "tests/unit/host/live_fixture.hpp"

namespace nopscope::host {
namespace {

using namespace std::chrono_literals;
using test::Bytes;
using test::TargetStream;

class Looked : public test::LiveFixture {};

TEST_F(Looked, CallsThatAreOpenCountUpToTheLastEvent) {
    open();
    EXPECT_EQ(live->status().state, LineState::waiting);
    EXPECT_FALSE(live->view().report);
    target.hello();
    target.entry(1);  // main, which never returns
    target.ret(target.entry(2, 100), 1000);
    send();
    LiveView view = live->view();
    EXPECT_EQ(view.status.state, LineState::running);
    ASSERT_NE(row_of(view, 1), nullptr);
    EXPECT_EQ(row_of(view, 1)->total_ns, 1100u);
    EXPECT_EQ(row_of(view, 1)->self_ns, 100u);
    EXPECT_EQ(row_of(view, 1)->open, 1u);
    EXPECT_EQ(row_of(view, 2)->total_ns, 1000u);
    // The view has ended no call.
    target.ret(target.entry(2, 100), 800);
    send();
    view = live->view();
    EXPECT_EQ(row_of(view, 1)->total_ns, 2000u);
    EXPECT_EQ(row_of(view, 1)->open, 1u);
    EXPECT_EQ(row_of(view, 2)->calls, 2u);
    EXPECT_EQ(row_of(view, 2)->open, 0u);
    ASSERT_EQ(view.status.cores.size(), 1u);
    EXPECT_EQ(view.status.cores[0].records, 5u);
    EXPECT_EQ(view.status.cores[0].busy_ticks, 2000u);
}

TEST_F(Looked, TheTimelineHasTheNamesThatTheTargetTold) {
    open(false, true);
    target.hello();
    target.argument(protocol::Extended::context, 7, 10);
    target.entry(1);
    send();
    const auto timeline = [this] {
        return live->view().timeline->json([](std::uint64_t) { return 0; });
    };
    EXPECT_EQ(timeline()["tracks"][1]["name"], "core 0, context 7");
    EXPECT_TRUE(timeline()["scheduler"].is_null());
    target.tasks(protocol::TaskFacts{.number = 7, .name = TargetStream::task_name("worker")});
    target.ret(target.entry(2), 10);
    send();
    EXPECT_EQ(timeline()["tracks"][1]["name"], "worker");
    EXPECT_EQ(timeline()["scheduler"]["tasks"], (Json{"core 0, context 0", "worker"}));
}

TEST_F(Looked, AtZeroAllFiguresBeginAgainAndTheRecordingGoesOn) {
    open();
    target.hello();
    target.entry(1);
    target.ret(target.entry(2), 100);
    target.drop(5);
    target.stats(false);
    send();
    live->start_recording(path("zero.nsc"));
    const LiveView before = live->view();
    EXPECT_EQ(before.status.stream.dropped, 5u);
    EXPECT_EQ(live->ask({.words = {"zero"}}).get().text, "the figures begin again");
    LiveView view = live->view();
    EXPECT_TRUE(view.report->functions.empty());
    EXPECT_EQ(view.status.stream.dropped, 0u);
    EXPECT_EQ(view.status.line.bytes, 0u);
    EXPECT_EQ(view.status.cores[0].records, 0u);
    EXPECT_EQ(view.status.resets, 0u);
    EXPECT_EQ(view.status.begin.request, "zero");
    sent = 0;
    target.ret(target.entry(2, 51), 70);
    send();
    view = live->view();
    EXPECT_EQ(row_of(view, 1)->total_ns, 120u);
    EXPECT_EQ(row_of(view, 1)->cut, 1u);
    EXPECT_EQ(row_of(view, 2)->calls, 1u);
    EXPECT_EQ(view.status.cores[0].records, 2u);
    const double seconds =
        std::chrono::duration<double>(view.status.at - view.status.begin.at).count();
    const Rates rates = rates_between(before, view);
    EXPECT_DOUBLE_EQ(rates.seconds, seconds) << "since the zero, which is later";
    EXPECT_NEAR(rates.calls.at(TargetStream::text_base + 16) * seconds, 1, 1e-9);
    EXPECT_EQ(live->stop_recording().records, 2u);
}

TEST_F(Looked, AZeroAfterTheEndIsRefused) {
    open();
    target.hello();
    target.entry(1);
    send();
    wire.close(true);
    wait([this] { return live->status().state == LineState::over; });
    const ControlAnswer answer = live->ask({.words = {"zero"}}).get();
    EXPECT_NE(answer.status, Exit::ok);
    EXPECT_THAT(answer.text, testing::HasSubstr("the line is over"));
    EXPECT_NE(row_of(live->view(), 1), nullptr) << "what was known is gone";
}

TEST_F(Looked, OneCoreIsShownFromNowOnAndThenAllAgain) {
    open();
    target.cores = 2;
    target.hello();
    target.entry(1, 10, 0);
    target.entry(2, 10, 1);
    target.ret(target.entry(3, 10, 0), 10, 0);
    send();
    Part part;
    part.core = 2;
    EXPECT_THROW(live->show(part), Error) << "there are two";
    part.core = 1;
    live->show(part);
    target.ret(target.entry(3, 10, 0), 10, 0);
    target.ret(target.entry(4, 101, 1), 30, 1);
    send();
    LiveView view = live->view();
    EXPECT_EQ(view.status.part, "core 1");
    EXPECT_EQ(row_of(view, 1), nullptr);
    EXPECT_EQ(row_of(view, 3), nullptr);
    EXPECT_EQ(row_of(view, 2)->self_ns, 120u) << "open since before, with its rest";
    EXPECT_EQ(row_of(view, 4)->calls, 1u);
    EXPECT_GT(view.status.cores[0].busy_ticks, 0u) << "the meters show all cores";
    live->show({});
    view = live->view();
    EXPECT_EQ(view.status.part, "");
    EXPECT_EQ(row_of(view, 3)->calls, 2u);
    EXPECT_EQ(row_of(view, 4)->calls, 1u);
}

TEST_F(Looked, OneTaskIsShownFromNowOn) {
    open();
    target.hello();
    target.argument(protocol::Extended::context, 5);
    target.entry(1);
    target.argument(protocol::Extended::context, 6);
    target.entry(2);
    send();
    Part part;
    part.task = "5";
    live->show(part);
    target.ret(target.entry(3), 10);  // of task 6, which runs
    target.argument(protocol::Extended::context, 5, 100);
    target.ret(target.entry(4, 20), 30);
    send();
    const LiveView view = live->view();
    EXPECT_EQ(row_of(view, 2), nullptr);
    EXPECT_EQ(row_of(view, 3), nullptr);
    EXPECT_EQ(row_of(view, 1)->self_ns, 20u);
    EXPECT_EQ(row_of(view, 4)->total_ns, 30u);
}

TEST_F(Looked, AResetIsSaidAndGoesOn) {
    open();
    target.hello();
    target.ret(target.entry(1));
    send();
    target.reset();
    target.hello();
    target.ret(target.entry(1));
    send();
    const LiveView view = live->view();
    EXPECT_EQ(view.status.resets, 1u);
    EXPECT_EQ(view.status.hello->session, target.session);
    EXPECT_EQ(row_of(view, 1)->calls, 2u);
    target.finish();
    send();
    EXPECT_EQ(live->status().state, LineState::finished);
}

TEST_F(Looked, ALineThatIsLostIsTriedAgainAndNothingIsForgotten) {
    open(true);
    target.hello();
    target.ret(target.entry(1));
    send();
    wire.close(true);
    wait([&] { return live->status().state == LineState::lost; });
    EXPECT_EQ(live->status().sentence, "the other side has closed it");
    wait([&] { return live->status().sentence == "there is no wire"; });
    EXPECT_EQ(row_of(live->view(), 1)->calls, 1u);
    const ControlAnswer answer = live->ask({.words = {"stats"}}).get();
    EXPECT_NE(answer.status, Exit::ok);
    EXPECT_THAT(answer.text, testing::HasSubstr("the line is lost"));
    wire.come_back();
    wait([&] { return live->status().state == LineState::running; });
    // In the same session, the records sent meanwhile are a gap.
    target.ret(target.entry(1));
    target.flush();
    target.bytes.clear();
    sent = live->status().line.bytes;
    target.ret(target.entry(1));
    send();
    LiveView view = live->view();
    EXPECT_EQ(view.status.losses, 1u);
    EXPECT_EQ(view.status.resets, 0u);
    EXPECT_EQ(row_of(view, 1)->calls, 2u);
    EXPECT_EQ(view.status.stream.lost, 2u);
    // Then another session.
    wire.close(false);
    wait([&] { return live->status().losses == 2; });
    wait([&] { return wire.opened == 3; });
    target.reset();
    target.hello();
    target.ret(target.entry(1));
    sent = live->status().line.bytes;
    send();
    EXPECT_EQ(live->status().resets, 1u);
    EXPECT_EQ(row_of(live->view(), 1)->calls, 3u);
}

TEST_F(Looked, AFrameThatTheLossHasCutDoesNotSpoilTheNext) {
    open(true);
    target.hello();
    send();
    target.entry(1);
    target.flush();
    target.bytes.resize(target.bytes.size() / 2);
    send();
    wire.close(false);
    wait([&] { return wire.opened == 2; });
    target.reset();
    target.hello();
    send();
    EXPECT_EQ(live->status().resets, 1u);
    EXPECT_EQ(live->status().line.corrupt_frames, 1u);
}

TEST_F(Looked, ALineThatDoesNotComeBackIsOver) {
    open();
    target.hello();
    target.ret(target.entry(1));
    send();
    wire.close(true);
    wait([&] { return live->status().state == LineState::over; });
    const LiveView view = live->view();
    EXPECT_EQ(row_of(view, 1)->calls, 1u);
    EXPECT_EQ(view.status.cores.at(0).records, 2u);
    EXPECT_EQ(view.report->sessions, 1u);
    EXPECT_NE(live->ask({.words = {"stats"}}).get().status, Exit::ok);
    EXPECT_THROW(live->start_recording(path("late")), Error);
}

// Like the line of a command that ignores SIGTERM.
TEST_F(Looked, AreAnsweredWhileALineTakesLongToClose) {
    wire.closing = 1500ms;
    open();
    target.hello();
    target.ret(target.entry(1));
    send();
    wire.close(true);
    auto longest = 0ns;
    unsigned answers = 0;
    while (live->status().state != LineState::over) {
        const auto begin = std::chrono::steady_clock::now();
        EXPECT_EQ(row_of(live->view(), 1)->calls, 1u);
        longest =
            std::max<std::chrono::nanoseconds>(longest, std::chrono::steady_clock::now() - begin);
        ++answers;
        std::this_thread::sleep_for(10ms);
    }
    EXPECT_LT(longest, 500ms);
    EXPECT_GT(answers, 2u);
    EXPECT_NE(live->ask({.words = {"stats"}}).get().status, Exit::ok);
}

TEST_F(Looked, AnInvalidRequestIsAnsweredAtOnce) {
    open();
    EXPECT_EQ(live->ask({.words = {"fly"}}).get().status, Exit::usage);
    EXPECT_THROW(live->stop_recording(), Error);
}

// The target takes no commands and keeps no profile.
TEST_F(Looked, AtTheEndATargetWithoutInputIsNotAsked) {
    open();
    target.hello();
    target.ret(target.entry(1));
    send();
    const ControlAnswer answer = live->end_recording([] { return false; });
    EXPECT_EQ(answer.status, Exit::ok);
    EXPECT_EQ(answer.text, "");
}

TEST(LineStates, HaveNames) {
    EXPECT_STREQ(name_of(LineState::waiting), "waiting");
    EXPECT_STREQ(name_of(LineState::running), "running");
    EXPECT_STREQ(name_of(LineState::finished), "finished");
    EXPECT_STREQ(name_of(LineState::lost), "lost");
    EXPECT_STREQ(name_of(LineState::over), "over");
    EXPECT_STREQ(name_of(LineState::failed), "failed");
}

TEST(LiveExec, TheEndOfTheCommandIsSaidWithItsReason) {
    Live live({.line = {.from = "exec:echo first >&2; echo 'no such board' >&2; kill -KILL $$",
                        .image = {},
                        .memory = {},
                        .steering = {}},
               .may_restart = true});
    for (int n = 0; n < 1000 && live.status().state != LineState::over; ++n)
        std::this_thread::sleep_for(10ms);
    EXPECT_THAT(
        live.status().sentence,
        testing::EndsWith("; the command ended with exit status 137 (Killed): no such board"));
    EXPECT_EQ(live.ask({.words = {"restart"}}).get().status, Exit::ok);
}

TEST_F(Looked, TheConsolesEndIsKept) {
    open();
    target.hello();
    for (int n = 0; n < 2000; ++n) target.console(std::string(200, 'a') + "\n");
    target.console("the end\n");
    send();
    const LiveStatus status = live->status();
    EXPECT_EQ(status.console_bytes, 2000u * 201 + 8);
    EXPECT_LE(status.console.size(), 2 * Watch::max_console_bytes);
    EXPECT_THAT(status.console, testing::EndsWith("a\nthe end\n"));
}

TEST_F(Looked, LooksGetTheirTurnWhileALineIsFast) {
    open();
    target.hello();
    for (int n = 0; n < 100'000; ++n) target.ret(target.entry(n % 50));
    target.flush();
    const Bytes flood = target.bytes;
    std::atomic<bool> stop = false;
    std::thread feeder([&] {
        for (int n = 0; n < 200 && !stop; ++n) {
            wire.send(flood);
            std::this_thread::sleep_for(1ms);
        }
    });
    for (int n = 0; n < 50; ++n) {
        const LiveView view = live->view();
        EXPECT_LE(view.report ? view.report->functions.size() : 0, 50u);
    }
    stop = true;
    feeder.join();
}

TEST(LiveRates, ArePerSecondOfTheHost) {
    const auto view = [](std::uint64_t seconds, std::uint64_t calls, std::uint64_t ticks,
                         std::uint64_t busy) {
        LiveView made;
        made.status.at = std::chrono::steady_clock::time_point(std::chrono::seconds(seconds));
        made.status.line.bytes = 1000 * seconds;
        made.status.stream.delivered = 2 * calls;
        made.status.stream.sessions = 1;
        made.status.hello.emplace().line_bytes_per_second = 4000;
        made.status.cores = {{.number = 0, .records = 2 * calls, .busy_ticks = busy}};
        made.target_ticks = ticks;
        FunctionRow row;
        row.address = 0x1000;
        row.calls = calls;
        made.report.emplace().functions = {row};
        return made;
    };
    const Rates rates = rates_between(view(1, 10, 1000, 100), view(3, 50, 3000, 1600));
    EXPECT_DOUBLE_EQ(rates.seconds, 2);
    EXPECT_DOUBLE_EQ(rates.bytes, 1000);
    EXPECT_DOUBLE_EQ(*rates.line_share, 0.25);
    EXPECT_DOUBLE_EQ(rates.calls.at(0x1000), 20);
    EXPECT_DOUBLE_EQ(rates.cores.at(0).records, 40);
    EXPECT_DOUBLE_EQ(*rates.cores.at(0).busy, 0.75);
    EXPECT_EQ(rates_between(view(1, 10, 5, 5), view(1, 10, 5, 5)).bytes, 0);
    EXPECT_FALSE(rates_between(view(1, 10, 5, 5), view(2, 10, 5, 5)).cores.at(0).busy);
}

}  // namespace
}  // namespace nopscope::host
