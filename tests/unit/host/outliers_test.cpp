// SPDX-License-Identifier: Apache-2.0
#include "host-tools/figures/function_queries/outliers.hpp"
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::outliers_test {

// Functions 1 (the wanted one), 2 and 3, on two tracks. Play tells their events; "c1": on track 1.
class Outliers : public testing::Test {
public:
    std::uint64_t entry(std::uint32_t function, std::uint64_t ticks) {
        sink.entry(tracks[on], function, now += ticks);
        return 0;
    }
    std::uint64_t ret(std::uint64_t, std::uint64_t ticks, unsigned = 0, bool unwound = false) {
        sink.leave(tracks[on],
                   {.to = now += ticks, .how = unwound ? Left::unwound : Left::returned});
        return 0;
    }
    std::uint64_t argument(Extended what, std::uint32_t track, std::uint64_t ticks) {
        if (what == Extended::tracer_begin) return entry(tracer_function, ticks);
        if (what == Extended::context) return on = track;
        sink.leave(tracks[on], {.function = tracer_function, .to = now += ticks});
        return 0;
    }
    std::uint64_t call(std::uint32_t, std::uint64_t) { return 0; }

protected:
    Outliers() {
        for (std::uint32_t n = 1; n <= 3; ++n)
            sink.on_function(n, {.name = "f" + std::to_string(n), .file = {}});
        sink.on_function(tracer_function, {});
        for (const Track& track : tracks) sink.on_track(track);
    }
    // Of each call the begin, core and duration, and of each of its nodes parent, function, calls,
    // total and self.
    std::string slowest() {
        std::string text = fmt::format("{} calls ", sink.calls());
        for (const Outlier& call : sink.slowest()) {
            text += fmt::format("[{} core {}: {}{}", call.from, call.track.core, call.duration(),
                                call.how == Left::unwound ? " unwound" : "");
            for (const OutlierNode& node : call.nodes) {
                text += fmt::format(", {} {} {} {} {}", node.parent, node.function, node.calls,
                                    node.total, node.self);
            }
            text += "]";
        }
        return text;
    }

    std::vector<Track> tracks{{.number = 0, .core = 0, .context = 0},
                              {.number = 1, .core = 1, .context = 0}};
    OutlierSink sink{[](const FunctionPlace& place) { return place.name == "f1"; }, 2};
    std::uint32_t on = 0;  // a track
    Nanoseconds now = 0;
    Play<Outliers> play{*this};
};
void play_word(Outliers&, char letter, std::uint64_t, std::uint64_t) {
    throw std::invalid_argument(std::string(1, letter));
}

class OutlierCourse : public Outliers, public testing::WithParamInterface<Course> {};
TEST_P(OutlierCourse, HasTheseCalls) {
    play(GetParam().words);
    EXPECT_EQ(slowest(), GetParam().told);
}
constexpr Course courses[] = {
    {"TheSlowestAreKeptTheSlowestFirst", "100:1( 5:) 0:1( 30:) 0:1( 7:) 0:1( 20:) 0:1( 30:)",
     "5 calls [105 core 0: 30, 0 1 1 30 30][162 core 0: 30, 0 1 1 30 30]"},
    {"TheTreeHasEachPathOnce",
     "0:2( 10:1( 10:2( 1:3( 3:) 6:) 10:2( 1:3( 3:) 6:) 10:3( 5:) 35:)! 100:)",
     "1 calls [10 core 0: 90 unwound, 0 1 1 90 65, 0 2 2 20 14, 1 3 2 6 6, 0 3 1 5 5]"},
    {"ACallInsideAnotherBelongsToTheOuterOne", "0:1( 10:1( 10:) 10:)",
     "1 calls [0 core 0: 30, 0 1 1 30 20, 0 1 1 10 10]"},
    {"TracerTimeCountsForNoCall", "0:1( 10:2( 10:t( 1000:t) 10:) 20:)",
     "1 calls [0 core 0: 50, 0 1 1 50 30, 0 2 1 20 20]"},
    {"TracksAreApart", "0:1( c1 5:1( 1:3( c0 4:) c1 90:) 1:)",
     "2 calls [5 core 1: 96, 0 1 1 96 2, 0 3 1 94 94][0 core 0: 10, 0 1 1 10 10]"},
};
INSTANTIATE_TEST_SUITE_P(, OutlierCourse, testing::ValuesIn(courses), name_of_course);

TEST_F(Outliers, TheTreeIsBounded) {
    entry(1, 0);
    for (std::size_t n = 0; n < OutlierSink::max_nodes + 5; ++n) entry(2 + n % 2, 1);
    for (std::size_t n = 0; n < OutlierSink::max_nodes + 6; ++n) ret(0, 1);
    const Outlier& call = sink.slowest()[0];
    EXPECT_EQ(call.nodes.size(), OutlierSink::max_nodes);
    EXPECT_TRUE(call.cut);
    EXPECT_EQ(call.duration(), now);
    EXPECT_EQ(call.nodes[0].self, 2u);
}

}  // namespace nopscope::host::test::outliers_test
