// SPDX-License-Identifier: Apache-2.0
// Views of a line while it is being read. The test feeds the source.
#include "host-tools/live/live.hpp"
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::live_test {

class Looked : public testing::Test {
protected:
    void open(bool comes_back = false, bool timeline = false) {
        live = std::make_unique<Live>(
            LiveOptions{.line = {.from = "test:", .image = {}, .memory = {}, .steering = {}},
                        .timeline = timeline},
            [this] { return std::make_unique<test::WireSource>(wire); }, comes_back);
    }
    void send() {
        target.flush();
        sent += target.bytes.size();
        wire.send(target.bytes);
        target.bytes.clear();
        wait([this] { return live->status().line.bytes >= sent; });
    }
    template <typename Condition>
    void wait(Condition condition) {
        for (int n = 0; !condition(); ++n) {
            ASSERT_LT(n, 10'000) << "it has not come within ten seconds";
            std::this_thread::sleep_for(1ms);
        }
    }
    void begin() {
        open();
        target.hello();
    }
    // A target that has made one call of function 1.
    void begin_with_a_call(bool comes_back = false) {
        open(comes_back);
        target.hello();
        call(1);
        send();
    }
    void reset_and_call() {
        target.reset();
        target.hello();
        call(1);
    }
    void wait_for(LineState state) {
        wait([&] { return live->status().state == state; });
    }
    // "f1 2 calls, total 30, self 20, 1 open, 0 cut" for each function.
    static std::vector<std::string> rows(const LiveView& view) {
        std::vector<std::string> all;
        for (const FunctionRow& row : view.report->functions) {
            all.push_back(fmt::format("f{} {} calls, total {}, self {}, {} open, {} cut",
                                      (row.address - TargetStream::text_base) / 8, row.calls,
                                      row.total_ns, row.self_ns, row.open, row.cut));
        }
        std::sort(all.begin(), all.end());
        return all;
    }
    void call(std::uint32_t function, int times = 1) {
        for (; times > 0; --times) target.ret(target.entry(function));
    }
    std::vector<std::string> rows() const { return rows(live->view()); }
    ControlAnswer ask(const char* word) { return live->ask({.words = {word}}).get(); }
    std::string path(const char* name) { return testing::TempDir() + name; }

    test::Wire wire;
    TargetStream target;
    std::size_t sent = 0;
    std::unique_ptr<Live> live;
};

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
    EXPECT_THAT(rows(view), ElementsAre("f1 1 calls, total 1100, self 100, 1 open, 0 cut",
                                        "f2 1 calls, total 1000, self 1000, 0 open, 0 cut"));
    // The view has ended no call.
    target.ret(target.entry(2, 100), 800);
    send();
    view = live->view();
    EXPECT_THAT(rows(view), ElementsAre("f1 1 calls, total 2000, self 200, 1 open, 0 cut",
                                        "f2 2 calls, total 1800, self 1800, 0 open, 0 cut"));
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
    begin();
    target.entry(1);
    target.ret(target.entry(2), 100);
    target.drop(5);
    target.stats(false);
    send();
    live->start_recording(path("zero.nsc"));
    const LiveView before = live->view();
    EXPECT_EQ(before.status.stream.dropped, 5u);
    EXPECT_EQ(ask("zero").text, "the figures begin again");
    LiveView view = live->view();
    EXPECT_THAT(rows(view), IsEmpty());
    const LiveStatus& now = view.status;
    EXPECT_EQ(now.stream.dropped + now.line.bytes + now.cores[0].records + now.resets, 0u);
    EXPECT_EQ(now.begin.request, "zero");
    sent = 0;
    target.ret(target.entry(2, 51), 70);
    send();
    view = live->view();
    EXPECT_THAT(rows(view), ElementsAre("f1 0 calls, total 120, self 50, 1 open, 1 cut",
                                        "f2 1 calls, total 70, self 70, 0 open, 0 cut"));
    EXPECT_EQ(view.status.cores[0].records, 2u);
    const double seconds =
        std::chrono::duration<double>(view.status.at - view.status.begin.at).count();
    const Rates rates = rates_between(before, view);
    EXPECT_DOUBLE_EQ(rates.seconds, seconds) << "since the zero, which is later";
    EXPECT_NEAR(rates.calls.at(TargetStream::text_base + 16) * seconds, 1, 1e-9);
    EXPECT_EQ(live->stop_recording().records, 2u);
}

TEST_F(Looked, OneCoreIsShownFromNowOnAndThenAllAgain) {
    target.cores = 2;
    begin();
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
    // f2 is open since before, with its rest.
    EXPECT_THAT(rows(view), ElementsAre("f2 0 calls, total 150, self 120, 1 open, 1 cut",
                                        "f4 1 calls, total 30, self 30, 0 open, 0 cut"));
    EXPECT_GT(view.status.cores[0].busy_ticks, 0u) << "the meters show all cores";
    live->show({});
    view = live->view();
    EXPECT_EQ(view.status.part, "");
    EXPECT_THAT(rows(view), IsSupersetOf({StartsWith("f3 2 calls"), StartsWith("f4 1 calls")}));
}

TEST_F(Looked, OneTaskIsShownFromNowOn) {
    begin();
    for (const std::uint32_t task : {5u, 6u}) {
        target.argument(protocol::Extended::context, task);
        target.entry(task - 4);
    }
    send();
    Part part;
    part.task = "5";
    live->show(part);
    target.ret(target.entry(3), 10);  // of task 6, which runs
    target.argument(protocol::Extended::context, 5, 100);
    target.ret(target.entry(4, 20), 30);
    send();
    EXPECT_THAT(rows(), ElementsAre(AllOf(StartsWith("f1"), HasSubstr("self 20,")),
                                    AllOf(StartsWith("f4"), HasSubstr("total 30,"))));
}

TEST_F(Looked, AResetIsSaidAndGoesOn) {
    begin_with_a_call();
    reset_and_call();
    send();
    const LiveView view = live->view();
    EXPECT_EQ(view.status.resets, 1u);
    EXPECT_EQ(view.status.hello->session, target.session);
    EXPECT_THAT(rows(view), ElementsAre(StartsWith("f1 2 calls")));
    target.finish();
    send();
    EXPECT_EQ(live->status().state, LineState::finished);
}

TEST_F(Looked, ALineThatIsLostIsTriedAgainAndNothingIsForgotten) {
    begin_with_a_call(true);
    wire.close(true);
    wait_for(LineState::lost);
    EXPECT_EQ(live->status().sentence, "the other side has closed it");
    wait([&] { return live->status().sentence == "there is no wire"; });
    EXPECT_THAT(rows(), ElementsAre(StartsWith("f1 1 calls")));
    const ControlAnswer answer = ask("stats");
    EXPECT_NE(answer.status, Exit::ok);
    EXPECT_THAT(answer.text, HasSubstr("the line is lost"));
    wire.come_back();
    wait_for(LineState::running);
    // In the same session, the records sent meanwhile are a gap.
    call(1);
    target.flush();
    target.bytes.clear();
    sent = live->status().line.bytes;
    call(1);
    send();
    LiveView view = live->view();
    EXPECT_EQ(view.status.losses, 1u);
    EXPECT_EQ(view.status.resets, 0u);
    EXPECT_THAT(rows(view), ElementsAre(StartsWith("f1 2 calls")));
    EXPECT_EQ(view.status.stream.lost, 2u);
    // Then another session.
    wire.close(false);
    wait([&] { return live->status().losses == 2 && wire.opened == 3; });
    reset_and_call();
    sent = live->status().line.bytes;
    send();
    EXPECT_EQ(live->status().resets, 1u);
    EXPECT_THAT(rows(), ElementsAre(StartsWith("f1 3 calls")));
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
    begin_with_a_call();
    wire.close(true);
    wait_for(LineState::over);
    const LiveView view = live->view();
    EXPECT_THAT(rows(view), ElementsAre(StartsWith("f1 1 calls")));
    EXPECT_EQ(view.status.cores.at(0).records, 2u);
    EXPECT_EQ(view.report->sessions, 1u);
    EXPECT_NE(ask("stats").status, Exit::ok);
    const ControlAnswer zero = ask("zero");
    EXPECT_NE(zero.status, Exit::ok);
    EXPECT_THAT(zero.text, HasSubstr("the line is over"));
    EXPECT_EQ(rows().size(), 1u) << "what was known is gone";
    EXPECT_THROW(live->start_recording(path("late")), Error);
}

// Like the line of a command that ignores SIGTERM.
TEST_F(Looked, AreAnsweredWhileALineTakesLongToClose) {
    wire.stays_open = true;
    begin_with_a_call();
    wire.close(true);
    wait([&] { return wire.is_closing.load(); });
    for (unsigned answers = 0; answers < 3; ++answers)
        EXPECT_THAT(rows(), ElementsAre(StartsWith("f1 1 calls")));
    EXPECT_NE(live->status().state, LineState::over) << "an answer waited for the end";
    wire.stays_open = false;
    wait_for(LineState::over);
    EXPECT_NE(ask("stats").status, Exit::ok);
}

TEST_F(Looked, AnInvalidRequestIsAnsweredAtOnce) {
    open();
    EXPECT_EQ(ask("fly").status, Exit::usage);
    EXPECT_THROW(live->stop_recording(), Error);
}

// The target takes no commands and keeps no profile.
TEST_F(Looked, AtTheEndATargetWithoutInputIsNotAsked) {
    begin_with_a_call();
    const ControlAnswer answer = live->end_recording([] { return false; });
    EXPECT_EQ(answer.status, Exit::ok);
    EXPECT_EQ(answer.text, "");
}

TEST(LineStates, HaveNames) {
    const char* const names[] = {"waiting", "running", "finished", "lost", "over", "failed"};
    for (unsigned state = 0; state < std::size(names); ++state)
        EXPECT_STREQ(name_of(static_cast<LineState>(state)), names[state]);
    EXPECT_EQ(LineState::failed, static_cast<LineState>(std::size(names) - 1));
}

TEST_F(Looked, ARecordingOnTheSideHasWhatCameMeanwhile) {
    begin();
    target.entry(1);
    target.argument(protocol::Extended::context, 5);
    const auto outer = target.entry(3);
    call(2, 100);
    send();
    const std::string file = path("side");
    live->start_recording(file);
    EXPECT_THROW(live->start_recording(path("second")), Error);
    EXPECT_TRUE(live->status().recording.on);
    call(4, 10);
    target.ret(outer);
    target.argument(protocol::Extended::context, 0);
    call(6);
    send();
    EXPECT_EQ(live->stop_recording().records, 24u);
    call(4, 7);
    send();
    nsc::Reader reader;
    Profile profile;
    reader.read_file(file, profile);
    LiveView view;
    view.report = make_report(profile, reader.counters(), nullptr);
    const StreamCounters& stream = reader.counters().stream;
    EXPECT_EQ(stream.delivered, 24u);
    EXPECT_EQ(stream.generated, 24u);
    EXPECT_EQ(stream.lost + stream.gaps, 0u);
    EXPECT_EQ(stream.sessions, 1u);
    EXPECT_TRUE(profile.missing().empty());
    EXPECT_THAT(rows(view), ElementsAre(StartsWith("f4 10 calls"), StartsWith("f6 1 calls")));
    EXPECT_EQ(profile.decoder().orphan_returns, 1u) << "of the call that was open at its begin";
    EXPECT_EQ(reader.end()->reason, nsc::EndReason::interrupted);
    struct First final : SessionSink {
        void on_trace(unsigned /*core*/, const TraceBatch& batch) override {
            if (!context) context = batch.context;
        }
        std::optional<std::uint32_t> context;
    } first;
    nsc::Reader().read_file(file, first);
    EXPECT_EQ(first.context, 5u) << "that the core was in";
    std::filesystem::remove(file);
}

TEST_F(Looked, ARecordingThatCannotBeWrittenEndsAndTheRestGoesOn) {
    open();
    for (const char* const file : {"/dev/full", "/nowhere/x.nsc"})
        EXPECT_THROW(live->start_recording(file), Error);
    target.hello();
    call(1);
    send();
    EXPECT_THAT(rows(), ElementsAre(StartsWith("f1 1 calls")));
    EXPECT_FALSE(live->status().recording.on);
}

TEST_F(Looked, TheConsolesEndIsKept) {
    begin();
    for (int n = 0; n < 2000; ++n) target.console(std::string(200, 'a') + "\n");
    target.console("the end\n");
    send();
    const LiveStatus status = live->status();
    EXPECT_EQ(status.console_bytes, 2000u * 201 + 8);
    EXPECT_LE(status.console.size(), 2 * Watch::max_console_bytes);
    EXPECT_THAT(status.console, testing::EndsWith("a\nthe end\n"));
}

TEST_F(Looked, LooksGetTheirTurnWhileALineIsFast) {
    begin();
    for (std::uint32_t n = 0; n < 100'000; ++n) call(n % 50);
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

}  // namespace nopscope::host::test::live_test
