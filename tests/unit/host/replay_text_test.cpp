// SPDX-License-Identifier: Apache-2.0
#include "host-tools/views/text/replay.hpp"
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::replay_text_test {

// Functions f1 to f3 on tracks of two cores.
class Replayed : public testing::Test {
protected:
    void begin(EventSink& sink) {
        sink.on_origin(1'000);
        for (std::uint32_t n = 1; n <= 3; ++n)
            sink.on_function(n, {.name = "f" + std::to_string(n), .file = {}});
        sink.on_function(tracer_function, {.name = "(tracer)", .file = {}});
        for (const Track& track : tracks) sink.on_track(track);
    }
    using Event = std::function<void(Caller&)>;
    // Events of a track, at so many ns after 1,000 ns.
    Event enter(std::uint32_t function, Nanoseconds at, unsigned track = 0) const {
        return [=, this](Caller& to) { to.entry(tracks[track], function, 1'000 + at); };
    }
    Event leave(std::uint32_t /*function*/, Nanoseconds at, Left how = Left::returned,
                unsigned track = 0) const {
        return [=, this](Caller& to) { to.leave(tracks[track], 1'000 + at, how); };
    }
    Event point(std::uint32_t function, Nanoseconds at, unsigned track = 0) const {
        return [=, this](Caller& to) { to.sink.point(tracks[track], function, 1'000 + at); };
    }
    Event whole(std::uint32_t function, Nanoseconds from, Nanoseconds to, unsigned depth) const {
        return [=, this](Caller& caller) {
            caller.sink.whole(tracks[0], function, 1'000 + from, 1'000 + to, depth);
        };
    }
    Event mark(std::uint32_t id, Nanoseconds at) const {
        return [=, this](Caller& to) { to.sink.mark(tracks[0], id, 1'000 + at); };
    }
    Event value(const CapturedValue& captured, Nanoseconds at) const {
        return [=, this](Caller& to) { to.sink.value(tracks[0], captured, 1'000 + at); };
    }
    // The lines without the head, the columns' blanks, and their newline.
    std::vector<std::string> told(unsigned levels, const CallSelection& selection,
                                  const std::vector<Event>& events) {
        std::vector<std::string> lines;
        ReplayText text(
            [&](std::string_view line) {
                line.remove_suffix(1);
                lines.emplace_back(line.substr(line.find_first_not_of(' ')));
            },
            levels);
        SelectedCalls selected(text, selection);
        EventSink& sink = selection.all() ? static_cast<EventSink&>(text) : selected;
        begin(sink);
        Caller caller(sink);
        for (const Event& event : events) event(caller);
        sink.finish();
        late = text.late_lines();
        lines.erase(lines.begin());
        return lines;
    }

    std::vector<Track> tracks{{.number = 0, .core = 0, .context = 0},
                              {.number = 1, .core = 0, .context = 7},
                              {.number = 2, .core = 1, .context = 0}};
    std::uint64_t late = 0;
};

TEST_F(Replayed, TasksByName) {
    const TaskOfTrack idle{.label = "idle", .priority = 0, .runs_interrupts = false};
    const TaskOfTrack worker{
        .label = "a worker\x1b of 16", .priority = 0, .runs_interrupts = false};
    std::string all;
    ReplayText text([&](std::string_view line) { all += line; }, 0);
    EXPECT_TRUE(text.wants_tasks());
    text.on_named_tasks();
    text.console("boot\n", 1'000);
    tracks[0].task = &idle;
    tracks[1].task = &worker;
    begin(text);
    text.entry(tracks[0], 1, 1'010);
    text.leave(tracks[0], {.function = 1, .from = 1'010, .to = 1'020, .duration = 10});
    text.entry(tracks[1], 2, 1'030);
    text.entry(tracks[1], 3, 1'040);
    text.finish();
    EXPECT_EQ(all,
              "#      seconds       took us   core  task              call\n"
              "   0.000001000                    0                    # console: boot\n"
              "   0.000000010       0.010 us     0  idle              f1()\n"
              "   0.000000030                    0  a worker\\x1b of 16  f2 {\n"
              "   0.000000040                    0  a worker\\x1b of 16    f3 {\n");
}

TEST_F(Replayed, ACallWithoutCallsIsOneLineAndDeeperOnesThanTheLevelsAreLeftOut) {
    const std::vector<Event> calls{enter(1, 10), enter(2, 20), leave(2, 50),
                                   leave(1, 1'010, Left::unwound)};
    const char* const begin = "0.000000010                    0  f1 {";
    const char* const end = "0.000001010       1.000 us     0  } f1  [unwound]";
    EXPECT_THAT(told(0, {}, calls),
                ElementsAre(begin, "0.000000020       0.030 us     0    f2()", end));
    EXPECT_THAT(told(1, {}, calls), ElementsAre(begin, end));
}

TEST_F(Replayed, LinesOfAllCoresAreInOrderOfTime) {
    EXPECT_THAT(told(0, {},
                     {enter(1, 0), leave(1, 300), point(3, 400, 1), enter(2, 100, 2),
                      leave(2, 350, Left::open, 2)}),
                ElementsAre("0.000000000       0.300 us     0  f1()",
                            "0.000000100       0.250 us     1  f2()  [open]",
                            "0.000000400                  0/7  f3"));
    EXPECT_EQ(late, 0u);
}

TEST_F(Replayed, OtherEventsAreComments) {
    const auto others = [this](Caller& to) {
        EventSink& sink = to.sink;
        sink.counter(tracks[0], 2, -3, 1'002);
        sink.value(tracks[0], {1, 8, 9, "result"}, 1'003);
        const std::uint32_t path[] = {1, 2};
        sink.sample(tracks[0], path, 1'004);
        sink.console("a\nb", 1'005);
        sink.absence(0, {1'005, 1'006, 1, 0, 2});
    };
    EXPECT_THAT(
        told(0, {}, {enter(1, 0), mark(5, 1), others, leave(1, 7, Left::gap), whole(2, 7, 9, 1)}),
        ElementsAre("0.000000000                    0  f1 {",
                    "0.000000001                    0    # marker 5",
                    "0.000000002                    0    # counter 2 = -3",
                    "0.000000003                    0    # result of f1 = 9",
                    "0.000000004                    0    # sample: f1 > f2",
                    "0.000000005                    0  # console: a",
                    "0.000000005                    0  # console: b",
                    "0.000000006                    0  # missing since 5ns: 1 records lost on the "
                    "line, 2 calls dropped",
                    "0.000000007       0.007 us     0  } f1  [gap]",
                    "0.000000009       0.002 us     0    } f2"));
}

// The second call of f2 takes 30 ns without the tracer. The time of a point is not known. The last
// call ends with the recording.
TEST_F(Replayed, CallsThatTakeLongEnough) {
    EXPECT_THAT(told(0, {.function = {}, .least_time = 50},
                     {enter(1, 0), enter(2, 10), mark(1, 15), leave(2, 20), enter(2, 30),
                      enter(tracer_function, 40), leave(tracer_function, 140), leave(2, 160),
                      enter(3, 170), leave(3, 220), leave(1, 230), point(1, 240),
                      whole(1, 241, 290, 0), enter(1, 300), leave(1, 340, Left::open)}),
                ElementsAre("0.000000000                    0  f1 {",
                            "0.000000015                    0    # marker 1",
                            "0.000000040       0.100 us     0    (tracer)()",
                            "0.000000170       0.050 us     0    f3()",
                            "0.000000230       0.130 us     0  } f1"));
}

TEST_F(Replayed, CallsOfFunctions) {
    EXPECT_THAT(told(0, {.function = "f[23]*", .least_time = 0}, {}), ElementsAre());
    EXPECT_THAT(
        told(0, {.function = "f2", .least_time = 0},
             {enter(1, 0), enter(2, 10), value({1, 0, 9, "x0"}, 11), value({2, 0, 8, "x0"}, 12),
              leave(2, 20), leave(1, 30), point(1, 40), point(2, 50)}),
        ElementsAre("0.000000010                    0  f2 {",
                    "0.000000012                    0    # x0 of f2 = 8",
                    "0.000000020       0.010 us     0  } f2",
                    "0.000000050                    0  f2"));
}

}  // namespace nopscope::host::test::replay_text_test
