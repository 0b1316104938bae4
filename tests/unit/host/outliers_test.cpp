// SPDX-License-Identifier: Apache-2.0
#include "host-tools/analysis/function_queries/outliers.hpp"
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::outliers_test {

// Functions 1 (the wanted one), 2 and 3, on tracks that the test fills.
class Outliers : public testing::Test {
protected:
    Outliers() {
        for (std::uint32_t n = 1; n <= 3; ++n) {
            sink.on_function(n, {.name = "f" + std::to_string(n), .file = {}});
        }
        sink.on_function(tracer_function, {});
        for (const Track& track : tracks) sink.on_track(track);
    }
    void enter(unsigned track, std::uint32_t function, Nanoseconds now) {
        sink.entry(tracks[track], function, now);
    }
    void leave(unsigned track, Nanoseconds now, Left how = Left::returned) {
        sink.leave(tracks[track], 0, now, how);
    }
    std::vector<Nanoseconds> durations() {
        std::vector<Nanoseconds> list;
        for (const Outlier& call : sink.slowest()) list.push_back(call.duration());
        return list;
    }
    using Figures = std::vector<std::uint64_t>;
    // Parent, function, calls, total and self of each node of the slowest call.
    std::vector<Figures> nodes() {
        std::vector<Figures> list;
        for (const OutlierNode& node : sink.slowest().at(0).nodes)
            list.push_back({node.parent, node.function, node.calls, node.total, node.self});
        return list;
    }

    std::vector<Track> tracks{{.number = 0, .core = 0, .context = 0},
                              {.number = 1, .core = 1, .context = 0}};
    OutlierSink sink{[](const std::string& name) { return name == "f1"; }, 2};
};

TEST_F(Outliers, TheSlowestAreKeptTheSlowestFirst) {
    Nanoseconds now = 100;
    for (const Nanoseconds each : {5, 30, 7, 20, 30}) {
        enter(0, 1, now);
        leave(0, now += each);
    }
    EXPECT_THAT(durations(), ElementsAre(30, 30));
    EXPECT_EQ(sink.slowest()[0].from, 105u);  // the first of two equal calls
    EXPECT_EQ(sink.calls(), 5u);
}

TEST_F(Outliers, TheTreeHasEachPathOnce) {
    enter(0, 2, 0);
    enter(0, 1, 10);
    for (const Nanoseconds at : {20, 40}) {
        enter(0, 2, at);
        enter(0, 3, at + 1);
        leave(0, at + 4);
        leave(0, at + 10);
    }
    enter(0, 3, 60);
    leave(0, 65);
    leave(0, 100, Left::unwound);
    leave(0, 200);
    ASSERT_EQ(sink.slowest().size(), 1u);
    EXPECT_EQ(sink.slowest()[0].how, Left::unwound);
    EXPECT_THAT(nodes(), ElementsAre(Figures{0, 1, 1, 90, 65}, Figures{0, 2, 2, 20, 14},
                                     Figures{1, 3, 2, 6, 6}, Figures{0, 3, 1, 5, 5}));
}

TEST_F(Outliers, ACallInsideAnotherBelongsToTheOuterOne) {
    enter(0, 1, 0);
    enter(0, 1, 10);
    leave(0, 20);
    leave(0, 30);
    EXPECT_EQ(sink.calls(), 1u);
    EXPECT_EQ(sink.slowest()[0].nodes.size(), 2u);
}

TEST_F(Outliers, TracerTimeCountsForNoCall) {
    enter(0, 1, 0);
    enter(0, 2, 10);
    enter(0, tracer_function, 20);
    sink.leave(tracks[0], tracer_function, 1020, Left::returned);
    leave(0, 1030);
    leave(0, 1050);
    EXPECT_THAT(nodes(), ElementsAre(Figures{0, 1, 1, 50, 30}, Figures{0, 2, 1, 20, 20}));
}

TEST_F(Outliers, TracksAreApart) {
    enter(0, 1, 0);
    enter(1, 1, 5);
    enter(1, 3, 6);
    leave(0, 10);
    leave(1, 100);
    leave(1, 101);
    EXPECT_THAT(durations(), ElementsAre(96, 10));
    EXPECT_EQ(sink.slowest()[0].track.core, 1u);
    EXPECT_EQ(sink.slowest()[1].nodes.size(), 1u);
}

TEST_F(Outliers, TheTreeIsBounded) {
    enter(0, 1, 0);
    Nanoseconds now = 1;
    for (std::size_t n = 0; n < OutlierSink::max_nodes + 5; ++n) enter(0, 2 + n % 2, now++);
    for (std::size_t n = 0; n < OutlierSink::max_nodes + 5; ++n) leave(0, now++);
    leave(0, now);
    const Outlier& call = sink.slowest()[0];
    EXPECT_EQ(call.nodes.size(), OutlierSink::max_nodes);
    EXPECT_TRUE(call.cut);
    EXPECT_EQ(call.duration(), now);
    EXPECT_EQ(call.nodes[0].self, 2u);
}

}  // namespace nopscope::host::test::outliers_test
