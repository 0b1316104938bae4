// SPDX-License-Identifier: Apache-2.0
// Views of a line while it is being read. The test feeds the source.
#include "host-tools/live/live.hpp"
#include "host-tools/line/transport/source.hpp"
#include "host-tools/views/page/html.hpp"
#include "host-tools/views/serve/subjects.hpp"
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::live_test {

// A line that a test feeds, and that it can close.
struct Wire {
    std::mutex mutex;
    Bytes bytes;
    bool closed = false;
    bool absent = false;  // it cannot be opened
    // While it `stays_open`, closing takes time: at most 20 s.
    std::atomic<bool> is_closing = false, stays_open = false;
    std::atomic<unsigned> opened = 0;

    void send(const Bytes& more) {
        const std::lock_guard lock(mutex);
        bytes.insert(bytes.end(), more.begin(), more.end());
    }
    void close(bool is_absent) {
        const std::lock_guard lock(mutex);
        closed = true;
        absent = is_absent;
    }
    void come_back() {
        const std::lock_guard lock(mutex);
        absent = false;
    }
};

class WireSource final : public Source {
public:
    explicit WireSource(Wire& wire) : wire_(wire) {
        const std::lock_guard lock(wire_.mutex);
        if (wire_.absent) throw Error("there is no wire");
        wire_.closed = false;
        ++wire_.opened;
    }
    Result read(std::span<std::uint8_t> to, std::chrono::milliseconds timeout) override {
        {
            const std::lock_guard lock(wire_.mutex);
            const std::size_t count = std::min(to.size(), wire_.bytes.size());
            std::copy_n(wire_.bytes.begin(), count, to.begin());
            wire_.bytes.erase(wire_.bytes.begin(), wire_.bytes.begin() + static_cast<long>(count));
            if (count != 0 || wire_.closed) return {count, count == 0};
        }
        std::this_thread::sleep_for(std::min(timeout, std::chrono::milliseconds(1)));
        return {};
    }
    std::optional<int> close() override {
        wire_.is_closing = true;
        for (int n = 0; wire_.stays_open && n < 20'000; ++n) std::this_thread::sleep_for(1ms);
        wire_.is_closing = false;
        return std::nullopt;
    }

private:
    Wire& wire_;
};

std::string sorted_rows(const Report& report) {
    std::vector<std::string> list = rows_of(report);
    std::ranges::sort(list);
    return joined(list);
}

class Looked : public testing::Test {
protected:
    Live& open(bool comes_back = false, bool timeline = false) {
        live = std::make_unique<Live>(
            LiveOptions{.line = {.from = "test:", .image = {}, .memory = {}, .steering = {}},
                        .timeline = timeline},
            [this] { return std::make_unique<WireSource>(wire); }, comes_back);
        return *live;
    }
    // Opens the line of a target that has made these calls.
    void begin(const std::string& calls = "", bool comes_back = false, bool timeline = false) {
        open(comes_back, timeline);
        send("hello " + calls);
    }
    void send(const std::string& calls = "") {
        play(calls);
        target.flush();
        sent += target.bytes.size();
        wire.send(std::exchange(target.bytes, {}));
        wait([this] { return live->status().line.bytes >= sent; });
    }
    template <typename Condition>
    void wait(Condition condition) {
        for (int n = 0; !condition(); ++n) {
            ASSERT_LT(n, 10'000) << "it has not come within ten seconds";
            std::this_thread::sleep_for(1ms);
        }
    }
    void wait_for(LineState state) {
        wait([&] { return live->status().state == state; });
    }
    std::string rows() const { return sorted_rows(*live->view().report); }
    ControlAnswer ask(const char* word) { return live->ask({.words = {word}}).get(); }
    std::string path(const char* name) { return testing::TempDir() + name; }

    Wire wire;
    TargetStream target;
    Play<TargetStream> play{target};
    std::size_t sent = 0;
    std::unique_ptr<Live> live;
};

TEST_F(Looked, CallsThatAreOpenCountUpToTheLastEvent) {
    open();
    EXPECT_EQ(live->status().state, LineState::waiting);
    EXPECT_FALSE(live->view().report);
    send("hello 1( 100:2( 1000:)");  // main never returns
    EXPECT_EQ(live->status().state, LineState::running);
    EXPECT_EQ(rows(), "f1 1 1100 100 open 1, f2 1 1000 1000");
    send("100:2( 800:)");  // the view has ended no call
    EXPECT_EQ(rows(), "f1 1 2000 200 open 1, f2 2 1800 1800");
    const auto cores = live->view().status.cores;
    ASSERT_EQ(cores.size(), 1u);
    EXPECT_EQ(std::pair(cores[0].records, cores[0].busy_ticks), std::pair(5ul, 2000ul));
}

TEST_F(Looked, TheTimelineHasTheNamesThatTheTargetTold) {
    begin("c7 1(", false, true);
    const auto timeline = [this] {
        return timeline_json(*live->view().timeline, [](std::uint64_t) { return 0; });
    };
    EXPECT_EQ(timeline()["tracks"][1]["name"], "core 0, context 7");
    EXPECT_TRUE(timeline()["scheduler"].is_null());
    send("n7=worker 2()");
    EXPECT_EQ(timeline()["tracks"][1]["name"], "worker");
    EXPECT_EQ(timeline()["scheduler"]["tasks"], (Json{"core 0, context 0", "worker"}));
}

TEST_F(Looked, AtZeroAllFiguresBeginAgainAndTheRecordingGoesOn) {
    begin("1( 100:2() drop5 stats");
    live->start_recording(path("zero.nsc"));
    const LiveView before = live->view();
    EXPECT_EQ(before.status.stream.dropped, 5u);
    EXPECT_EQ(ask("zero").text, "the figures begin again");
    EXPECT_EQ(rows(), "");
    const LiveStatus now = live->status();
    EXPECT_EQ(now.stream.dropped + now.line.bytes + now.cores[0].records + now.resets, 0u);
    EXPECT_EQ(now.begin.request, "zero");
    sent = 0;
    send("51:2( 70:)");
    const LiveView view = live->view();
    EXPECT_EQ(sorted_rows(*view.report), "f1 0 120 50 open 1 cut 1, f2 1 70 70");
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
    begin("2(@1 1( 3()");
    EXPECT_THROW(live->show(of_core(2)), Error) << "there are two";
    live->show(of_core(1));
    send("3() 101:4(@1 30:)");
    EXPECT_EQ(live->status().part, "core 1");
    EXPECT_EQ(rows(), "f2 0 150 120 open 1 cut 1, f4 1 30 30") << "f2 with its rest";
    EXPECT_GT(live->view().status.cores[0].busy_ticks, 0u) << "the meters show all cores";
    live->show({});
    EXPECT_EQ(live->status().part, "");
    EXPECT_THAT(rows(), AllOf(HasSubstr("f3 2 "), HasSubstr("f4 1 ")));
}

TEST_F(Looked, OneTaskIsShownFromNowOn) {
    begin("c5 1( c6 2(");
    live->show(of_task("5"));
    send("3() 100:c5 20:4( 30:)");  // task 6 calls f3
    EXPECT_EQ(rows(), "f1 0 169 20 open 1 cut 1, f4 1 30 30");
}

TEST_F(Looked, AResetIsSaidAndGoesOn) {
    begin("1()");
    send("reset hello 1()");
    EXPECT_EQ(live->status().resets, 1u);
    EXPECT_EQ(live->status().hello->session, target.session);
    EXPECT_EQ(rows(), "f1 2 20 20");
    send("end");
    EXPECT_EQ(live->status().state, LineState::finished);
}

TEST_F(Looked, ALineThatIsLostIsTriedAgainAndNothingIsForgotten) {
    begin("1()", true);
    wire.close(true);
    wait_for(LineState::lost);
    EXPECT_EQ(live->status().sentence, "the other side has closed it");
    wait([&] { return live->status().sentence == "there is no wire"; });
    EXPECT_EQ(rows(), "f1 1 10 10");
    const ControlAnswer answer = ask("stats");
    EXPECT_NE(answer.status, Exit::ok);
    EXPECT_THAT(answer.text, HasSubstr("the line is lost"));
    wire.come_back();
    wait_for(LineState::running);
    // In the same session, the records sent meanwhile are a gap.
    play("1() |");
    target.bytes.clear();
    send("1()");
    const LiveStatus back = live->status();
    EXPECT_EQ(std::tuple(back.losses, back.resets, back.stream.lost), std::tuple(1u, 0u, 2u));
    EXPECT_EQ(rows(), "f1 2 20 20");
    // Then another session.
    wire.close(false);
    wait([&] { return live->status().losses == 2 && wire.opened == 3; });
    send("reset hello 1()");
    EXPECT_EQ(live->status().resets, 1u);
    EXPECT_EQ(rows(), "f1 3 30 30");
}

TEST_F(Looked, AFrameThatTheLossHasCutDoesNotSpoilTheNext) {
    begin("", true);
    play("1( |");
    target.bytes.resize(target.bytes.size() / 2);
    send();
    wire.close(false);
    wait([&] { return wire.opened == 2; });
    send("reset hello");
    EXPECT_EQ(live->status().resets, 1u);
    EXPECT_EQ(live->status().line.corrupt_frames, 1u);
}

TEST_F(Looked, ALineThatDoesNotComeBackIsOver) {
    begin("1()");
    wire.close(true);
    wait_for(LineState::over);
    EXPECT_EQ(live->status().cores.at(0).records, 2u);
    EXPECT_EQ(live->view().report->sessions, 1u);
    EXPECT_NE(ask("stats").status, Exit::ok);
    const ControlAnswer zero = ask("zero");
    EXPECT_NE(zero.status, Exit::ok);
    EXPECT_THAT(zero.text, HasSubstr("the line is over"));
    EXPECT_EQ(rows(), "f1 1 10 10") << "what was known is gone";
    EXPECT_THROW(live->start_recording(path("late")), Error);
}

// Like the line of a command that ignores SIGTERM.
TEST_F(Looked, AreAnsweredWhileALineTakesLongToClose) {
    wire.stays_open = true;
    begin("1()");
    wire.close(true);
    wait([&] { return wire.is_closing.load(); });
    for (unsigned answers = 0; answers < 3; ++answers) EXPECT_EQ(rows(), "f1 1 10 10");
    EXPECT_TRUE(wire.is_closing) << "an answer waited for the end";
    wire.stays_open = false;
    wait_for(LineState::over);
    EXPECT_NE(ask("stats").status, Exit::ok);
}

// The target takes no commands and keeps no profile.
TEST_F(Looked, AtTheEndATargetWithoutInputIsNotAsked) {
    begin("1()");
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
    const auto times = [this](int count, const char* call) {
        for (; count > 0; --count) play(call);
    };
    begin("1( c5 3(");
    times(100, "2()");
    send();
    const std::string file = path("side");
    live->start_recording(file);
    EXPECT_THROW(live->start_recording(path("second")), Error);
    EXPECT_TRUE(live->status().recording.on);
    times(10, "4()");
    send(")3 c0 6()");
    EXPECT_EQ(live->stop_recording().records, 24u);
    times(7, "4()");
    send();
    nsc::Reader reader;
    Profile profile;
    or_throw(reader.read_file(file, profile));
    const StreamCounters& stream = reader.counters().stream;
    EXPECT_EQ(std::tuple(stream.delivered, stream.generated, stream.sessions),
              std::tuple(24u, 24u, 1u));
    EXPECT_EQ(stream.lost + stream.gaps, 0u);
    EXPECT_TRUE(profile.missing().empty());
    EXPECT_EQ(sorted_rows(or_throw(make_report(profile, reader.counters(), nullptr))),
              "f4 10 100 100, f6 1 10 10");
    EXPECT_EQ(profile.decoder().orphan_returns, 1u) << "of the call that was open at its begin";
    EXPECT_EQ(reader.end()->reason, nsc::EndReason::interrupted);
    struct First final : SessionSink {
        void on_trace(unsigned /*core*/, const TraceBatch& batch) override {
            if (!context) context = batch.context;
        }
        std::optional<std::uint32_t> context;
    } first;
    or_throw(nsc::Reader().read_file(file, first));
    EXPECT_EQ(first.context, 5u) << "that the core was in";
}

TEST_F(Looked, ARecordingThatCannotBeWrittenEndsAndTheRestGoesOn) {
    open();
    EXPECT_THROW(live->stop_recording(), Error);
    for (const char* const file : {"/dev/full", "/nowhere/x.nsc"})
        EXPECT_THROW(live->start_recording(file), Error);
    send("hello 1()");
    EXPECT_EQ(rows(), "f1 1 10 10");
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
    for (std::uint32_t n = 0; n < 100'000; ++n) target.ret(target.entry(n % 50));
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

// What a page receives of a line: a new view if there is one, and its status, for any bytes.
class ShownLineTest : public Looked {
protected:
    // The view is updated once a second.
    void show(const std::string& calls) {
        send(calls);
        std::this_thread::sleep_for(1s);
    }
    json status() { return json::parse(shown.status(console)); }

    ShownLine shown{open(false, true), "title", false, nullptr};
    std::uint64_t console = 0;
};

TEST_F(ShownLineTest, ThereIsAnotherViewWhenSomethingHasCome) {
    EXPECT_EQ(shown.view(), nullptr);
    const auto state = [this] { return json({status()["view"], status()["state"]}); };
    EXPECT_EQ(state(), json({0, "waiting"}));
    show("hello 1( 2()");
    const auto first = shown.view();
    ASSERT_NE(first, nullptr);
    EXPECT_EQ(state(), json({first->number, "running"}));
    const json view = json::parse(first->json);
    EXPECT_EQ(view["complaint"], "") << "what runs on does not end early";
    EXPECT_EQ(view["paths"]["calls"], json({0, 1, 1}));
    EXPECT_EQ(view["timeline"]["calls"], 2);
    show("hello");
    EXPECT_EQ(shown.view(), first) << "a hello changes nothing";
    show("2()");
    const auto second = shown.view();
    EXPECT_NE(second->number, first->number);
    EXPECT_EQ(json::parse(second->json)["paths"]["calls"], json({0, 1, 2}));
    EXPECT_EQ(second->gzip.substr(0, 2), "\x1f\x8b");
    EXPECT_TRUE(status()["rates"].is_object());
}

TEST_F(ShownLineTest, TheConsoleIsToldOnceAndAsText) {
    play("hello");
    target.console("one \x1b[31m<b>\xff\xc3\xbc\n");
    show("");
    EXPECT_EQ(status()["console"], "one \\x1b[31m<b>\\xff\xc3\xbc\n");
    EXPECT_EQ(status()["console"], "");
    target.console("two");
    show("");
    json now = status();
    EXPECT_EQ(json({now["console"], now["console_begins"]}), json({"two", false}));
    for (int n = 0; n < 3000; ++n) target.console(std::string(100, 'x'));
    show("");
    now = status();
    EXPECT_EQ(now["console_begins"], true) << "more came than is kept";
    EXPECT_LE(now["console"].get<std::string>().size(), 2 * Watch::max_console_bytes);
}

TEST_F(ShownLineTest, AnAnswerIsASentence) {
    const ControlAnswer answer = shown.ask({.words = {"mark", "x"}});
    EXPECT_EQ(answer.status, Exit::usage);
    EXPECT_THAT(answer.text, HasSubstr("expected a number"));
}

TEST(ShownFileTest, HasItsViewAndNobodyToAsk) {
    ShownFile shown("a.nsc", "{}");
    std::uint64_t console = 0;
    const json status = json::parse(shown.status(console));
    EXPECT_EQ(json({status["state"], status["commands"], status["view"]}),
              json({"file", false, shown.view()->number}));
    EXPECT_EQ(shown.ask({.words = {"mark"}}).status, Exit::usage);
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
