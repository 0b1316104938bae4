// SPDX-License-Identifier: Apache-2.0
#include "host-tools/views/text/replay.hpp"

#include <gmock/gmock.h>

#include "host-tools/analysis/part/selected_calls.hpp"

namespace nopscope::host {
namespace {

using testing::ElementsAre;

// Functions f1 to f3 on tracks of two cores.
class Replayed : public testing::Test {
protected:
    void begin(EventSink& sink) {
        sink.on_origin(1'000);
        for (std::uint32_t n = 1; n <= 3; ++n) {
            FunctionPlace place;
            place.name = "f" + std::to_string(n);
            sink.on_function(n, place);
        }
        FunctionPlace tracer;
        tracer.name = "(tracer)";
        sink.on_function(tracer_function, tracer);
        for (const Track& track : tracks) sink.on_track(track);
    }
    // The lines without the head, the columns' blanks, and their newline.
    std::vector<std::string> told(unsigned levels, const CallSelection& selection,
                                  const std::function<void(EventSink&)>& act) {
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
        act(sink);
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
    text.leave(tracks[0], 1, 1'020, Left::returned);
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

TEST_F(Replayed, ACallWithoutCallsIsOneLine) {
    EXPECT_THAT(told(0, {},
                     [&](EventSink& sink) {
                         sink.entry(tracks[0], 1, 1'010);
                         sink.entry(tracks[0], 2, 1'020);
                         sink.leave(tracks[0], 2, 1'050, Left::returned);
                         sink.leave(tracks[0], 1, 2'010, Left::unwound);
                     }),
                ElementsAre("0.000000010                    0  f1 {",
                            "0.000000020       0.030 us     0    f2()",
                            "0.000001010       1.000 us     0  } f1  [unwound]"));
}

TEST_F(Replayed, TheTracersTimeIsNotACallsTime) {
    EXPECT_THAT(told(0, {},
                     [&](EventSink& sink) {
                         sink.entry(tracks[0], 1, 1'000);
                         sink.entry(tracks[0], tracer_function, 1'100);
                         sink.leave(tracks[0], tracer_function, 1'400, Left::returned);
                         sink.leave(tracks[0], 1, 1'500, Left::returned);
                     }),
                ElementsAre("0.000000000                    0  f1 {",
                            "0.000000100       0.300 us     0    (tracer)()",
                            "0.000000500       0.200 us     0  } f1"));
}

TEST_F(Replayed, LinesOfAllCoresAreInOrderOfTime) {
    EXPECT_THAT(told(0, {},
                     [&](EventSink& sink) {
                         sink.entry(tracks[0], 1, 1'000);
                         sink.leave(tracks[0], 1, 1'300, Left::returned);
                         sink.point(tracks[1], 3, 1'400);
                         sink.entry(tracks[2], 2, 1'100);
                         sink.leave(tracks[2], 2, 1'350, Left::open);
                     }),
                ElementsAre("0.000000000       0.300 us     0  f1()",
                            "0.000000100       0.250 us     1  f2()  [open]",
                            "0.000000400                  0/7  f3"));
    EXPECT_EQ(late, 0u);
}

TEST_F(Replayed, OtherEventsAreComments) {
    EXPECT_THAT(
        told(0, {},
             [&](EventSink& sink) {
                 sink.entry(tracks[0], 1, 1'000);
                 sink.mark(tracks[0], 5, 1'001);
                 sink.counter(tracks[0], 2, -3, 1'002);
                 sink.value(tracks[0], {1, 8, 9}, 1'003);
                 const std::uint32_t path[] = {1, 2};
                 sink.sample(tracks[0], path, 1'004);
                 sink.console("a\nb", 1'005);
                 sink.absence(0, {1'005, 1'006, 1, 0, 2});
                 sink.leave(tracks[0], 1, 1'007, Left::gap);
                 sink.whole(tracks[0], 2, 1'007, 1'009, 1);
             }),
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

TEST_F(Replayed, DeeperCallsThanTheLevelsAreLeftOut) {
    EXPECT_THAT(told(1, {},
                     [&](EventSink& sink) {
                         sink.entry(tracks[0], 1, 1'000);
                         sink.entry(tracks[0], 2, 1'010);
                         sink.leave(tracks[0], 2, 1'020, Left::returned);
                         sink.leave(tracks[0], 1, 1'030, Left::returned);
                     }),
                ElementsAre("0.000000000                    0  f1 {",
                            "0.000000030       0.030 us     0  } f1"));
}

TEST_F(Replayed, CallsThatTakeLongEnough) {
    EXPECT_THAT(told(0, {.function = {}, .least_time = 50},
                     [&](EventSink& sink) {
                         sink.entry(tracks[0], 1, 1'000);
                         sink.entry(tracks[0], 2, 1'010);
                         sink.mark(tracks[0], 1, 1'015);
                         sink.leave(tracks[0], 2, 1'020, Left::returned);
                         sink.entry(tracks[0], 2, 1'030);
                         sink.entry(tracks[0], tracer_function, 1'040);
                         sink.leave(tracks[0], tracer_function, 1'140, Left::returned);
                         sink.leave(tracks[0], 2, 1'160, Left::returned);  // 30 without the tracer
                         sink.entry(tracks[0], 3, 1'170);
                         sink.leave(tracks[0], 3, 1'220, Left::returned);
                         sink.leave(tracks[0], 1, 1'230, Left::returned);
                         sink.point(tracks[0], 1, 1'240);  // its time is not known
                         sink.whole(tracks[0], 1, 1'241, 1'290, 0);
                         sink.entry(tracks[0], 1, 1'300);  // it ends with the recording
                         sink.leave(tracks[0], 1, 1'340, Left::open);
                     }),
                ElementsAre("0.000000000                    0  f1 {",
                            "0.000000015                    0    # marker 1",
                            "0.000000040       0.100 us     0    (tracer)()",
                            "0.000000170       0.050 us     0    f3()",
                            "0.000000230       0.130 us     0  } f1"));
}

TEST_F(Replayed, CallsOfFunctions) {
    EXPECT_THAT(told(0, {.function = "f[23]*", .least_time = 0}, [](EventSink&) {}), ElementsAre());
    EXPECT_THAT(told(0, {.function = "f2", .least_time = 0},
                     [&](EventSink& sink) {
                         sink.entry(tracks[0], 1, 1'000);
                         sink.entry(tracks[0], 2, 1'010);
                         sink.value(tracks[0], {1, 0, 9}, 1'011);
                         sink.value(tracks[0], {2, 0, 8}, 1'012);
                         sink.leave(tracks[0], 2, 1'020, Left::returned);
                         sink.leave(tracks[0], 1, 1'030, Left::returned);
                         sink.point(tracks[0], 1, 1'040);
                         sink.point(tracks[0], 2, 1'050);
                     }),
                ElementsAre("0.000000010                    0  f2 {",
                            "0.000000012                    0    # x0 of f2 = 8",
                            "0.000000020       0.010 us     0  } f2",
                            "0.000000050                    0  f2"));
}

}  // namespace
}  // namespace nopscope::host
