// SPDX-License-Identifier: Apache-2.0
// A timeline has all calls while there is room, then the longest, and the sums of the others.
#include "host-tools/views/page/html.hpp"
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::timeline_test {

// The functions' addresses begin at 1002; an interrupt's key is odd.
std::int64_t by_address(std::uint64_t key) {
    return key % 2 != 0 ? 99 : static_cast<std::int64_t>(key - 1000) / 2;
}

class TimelineTest : public testing::Test {
protected:
    TimelineTest() {
        for (const Track& track : {core0, task, core1}) timeline.on_track(track);
        for (std::uint32_t n = 1; n < 10; ++n)
            timeline.on_function(n, {.name = "f", .file = {}, .line = 0, .address = 1000 + 2 * n});
    }
    void call(const Track& track, std::uint32_t function, Nanoseconds from, Nanoseconds to,
              Left how = Left::returned) {
        timeline.entry(track, function, from);
        timeline.leave(track, {.function = function, .to = to, .how = how});
    }
    Json json() const { return timeline_json(timeline, by_address); }
    using Told = std::tuple<std::int64_t, std::int64_t, std::int64_t>;  // from, duration, function
    using Calls = std::vector<Told>;
    static Calls calls(const Json& track, std::size_t depth = 0) {
        const Json& row = track["rows"][depth];
        Calls all;
        std::int64_t from = 0;
        for (std::size_t at = 0; at < row["from"].size(); ++at) {
            from += row["from"][at].get<std::int64_t>();
            all.emplace_back(from, row["duration"][at], row["function"][at]);
        }
        return all;
    }

    const Track core0{0, 0, 0};
    const Track task{1, 0, 5};
    const Track core1{2, 1, 0};
    Timeline timeline;
};

TEST_F(TimelineTest, SaysWhatItsTimesAre) {
    EXPECT_EQ(json()["times"], times_text(TimeAxis::wall));
    timeline.on_axis(TimeAxis::without_tracer);
    timeline.on_axis(TimeAxis::wall);
    EXPECT_EQ(json()["times"], times_text(TimeAxis::without_tracer));
}

TEST_F(TimelineTest, WhichTaskEachCoreRan) {
    EXPECT_EQ(json()["tracks"][1]["name"], "core 0, context 5");
    EXPECT_TRUE(json()["scheduler"].is_null());
    Timeline named;
    {
        const TaskOfTrack worker{.label = "worker", .priority = 1, .runs_interrupts = false};
        const TaskOfTrack idle{.label = "idle", .priority = 0, .runs_interrupts = false};
        const Track one{.number = 0, .core = 0, .context = 5, .task = &worker};
        const Track two{.number = 1, .core = 1, .context = 0, .task = &idle};
        named.on_named_tasks();
        named.on_track(one);
        named.on_track(two);
        named.entry(one, 1, 1000);
        named.on_switch({.core = 0, .from = {}, .to = one, .at = 1100, .how = {}});
        named.on_switch({.core = 1, .from = {}, .to = two, .at = 1150, .how = {}});
        named.on_switch({.core = 0, .from = one, .to = two, .at = 1300, .how = {}});
        named.on_switch({.core = 0, .from = two, .to = {}, .at = 1350, .how = {}});
        named.leave(one, {.function = 1, .to = 1400, .how = Left::returned});
    }  // the names do not stay
    const Json shown = timeline_json(named, by_address);
    EXPECT_EQ(Json({shown["tracks"][0]["name"], shown["calls"], shown["drawn"]}),
              Json({"worker", 1, 1}));
    const Json& scheduler = shown["scheduler"];
    EXPECT_EQ(scheduler["tasks"], (Json{"worker", "idle"}));
    EXPECT_EQ(scheduler["since"], 100);
    EXPECT_EQ(calls(scheduler["tracks"][0]), (Calls{{0, 200, 0}, {200, 50, 1}}));
    EXPECT_EQ(calls(scheduler["tracks"][1]), (Calls{{50, 0, 1}})) << "it still runs";
}

// Of a line: the target tells names while it runs.
TEST_F(TimelineTest, NamesThatComeLater) {
    timeline.expect_names();
    timeline.on_switch({.core = 0, .from = {}, .to = core0, .at = 1000, .how = {}});
    timeline.on_switch({.core = 0, .from = core0, .to = task, .at = 1200, .how = {}});
    EXPECT_TRUE(json()["scheduler"].is_null());

    Tasks tasks;
    MemoryBudget budget(1.0);
    const auto tell = [&](std::uint64_t session, std::uint32_t number, std::string_view name,
                          std::uint32_t core) {
        Bytes payload(protocol::max_payload_bytes);
        protocol::TasksWriter out(payload.data());
        out.put(facts(number, name, core));
        ASSERT_TRUE(tasks.on_frame(session, payload.data(), out.size(), budget));
    };
    timeline.name_tasks(tasks);
    EXPECT_TRUE(json()["scheduler"].is_null()) << "there are none";
    tell(0, 5, "worker", 0);
    tell(0, 0, "idle", 1);  // core 0's own
    timeline.name_tasks(tasks);
    const Json shown = json(), names{"idle", "worker", "core 1, context 0"};
    for (const std::size_t track : {0, 1, 2})
        EXPECT_EQ(shown["tracks"][track]["name"], names[track]);
    EXPECT_EQ(shown["scheduler"]["tasks"], names);

    // After a reset the number is another task.
    tell(1, 5, "reader", 0);
    Timeline again;
    again.expect_names();
    again.on_track(task);
    again.name_tasks(tasks);
    EXPECT_EQ(timeline_json(again, by_address)["tracks"][1]["name"], "core 0, context 5");
}

TEST_F(TimelineTest, FewCallsAreThereAsTheyWere) {
    timeline.entry(core0, 1, 5000);
    call(core0, 2, 5010, 5020);
    call(core0, tracer_function, 5030, 5050);
    timeline.leave(core0, {.function = 1, .to = 5100, .how = Left::gap});
    timeline.on_function(10, {.name = "(interrupt 27)", .file = {}, .interrupt = 27});
    call(core0, 10, 5110, 5120);
    call(task, 3, 5100, 5200, Left::unwound);
    timeline.mark(task, 42, 5150);
    timeline.point(core1, 4, 4990);  // on another core, before the first event that was told
    timeline.whole(core1, 5, 4980, 5300, 1);
    timeline.absence(0, {.from = 5300, .to = 5400, .lost = 7, .overwritten = 2, .dropped = 0});
    timeline.absence(1, {.from = 5000, .to = 5400, .lost = 0, .overwritten = 0, .dropped = 1234});
    const Json shown = json();
    const Json& tracks = shown["tracks"];
    ASSERT_EQ(tracks.size(), 3u);
    EXPECT_EQ(calls(tracks[0]), (Calls{{10, 100, 1}, {120, 10, 99}}));
    EXPECT_EQ(shown["interrupts"], Json({99}));
    EXPECT_EQ(tracks[0]["rows"][0]["left"], Json({{0, "gap"}}));
    EXPECT_EQ(calls(tracks[0], 1), (Calls{{20, 10, 2}, {40, 20, -3}}));
    EXPECT_EQ(tracks[1]["context"], 5);
    EXPECT_EQ(tracks[1]["rows"][0]["left"], Json({{0, "unwound"}}));
    EXPECT_EQ(tracks[1]["marks"], Json({{"at", {160}}, {"id", {42}}}));
    EXPECT_EQ(calls(tracks[2]), (Calls{{0, 0, 4}}));
    EXPECT_EQ(calls(tracks[2], 1), (Calls{{-10, 320, 5}}));
    EXPECT_FALSE(tracks[0]["rows"][0].contains("slot"));
    EXPECT_EQ(shown["bands"], Json::parse(R"({
        "core": [0, 1], "kind": ["gap", "dropped"], "from": [310, 10], "to": [410, 410],
        "what": ["7 records lost, 2 records overwritten", "1,234 calls and records dropped"]})"));
    EXPECT_EQ(Json({shown["calls"], shown["drawn"], shown["duration"]}), Json({6, 6, 310}));
}

TEST_F(TimelineTest, OpenCallsAreShownUpToNowAndLaterWhole) {
    const auto track = [&] { return json()["tracks"][0]; };
    timeline.entry(core0, 1, 100);
    timeline.entry(core0, 2, 200);
    call(core0, 3, 250, 300);
    EXPECT_EQ(calls(track()), (Calls{{0, 200, 1}}));
    EXPECT_EQ(track()["rows"][1]["left"], Json({{0, "open"}}));
    EXPECT_EQ(json()["calls"], 3);
    timeline.leave(core0, {.function = 2, .to = 400, .how = Left::returned});
    timeline.leave(core0, {.function = 1, .to = 500, .how = Left::returned});
    EXPECT_EQ(calls(track()), (Calls{{0, 400, 1}}));
    EXPECT_EQ(track()["rows"][0]["left"], Json::array());
    EXPECT_EQ(json()["calls"], 3);
}

// Each drawn call did happen, the longest calls are drawn, and each slot's sums are right.
TEST_F(TimelineTest, OfManyCallsTheLongestAreThereAndTheSumsOfTheOthers) {
    constexpr std::size_t most_depth = 5;
    constexpr Nanoseconds origin = 1'000'000;
    std::mt19937 random(3);
    std::array<Calls, most_depth> all;
    std::vector<std::int64_t> durations;
    Nanoseconds now = origin;
    const auto run = [&](auto&& self, std::size_t depth) -> void {
        const std::uint32_t function = 1 + random() % 9;
        const Nanoseconds from = now;
        timeline.entry(core0, function, now);
        now += 1 + random() % 50;
        if (depth + 1 < most_depth) {
            for (unsigned n = random() % 4; n > 0; --n) self(self, depth + 1);
        }
        now += random() % 1000 == 0 ? 100'000 : random() % 100;
        timeline.leave(core0, {.function = function, .to = now, .how = Left::returned});
        all[depth].emplace_back(from - origin, now - from, function);
        durations.push_back(static_cast<std::int64_t>(now - from));
    };
    for (unsigned n = 0; n < 20'000; ++n) {
        run(run, 0);
        now += random() % 300;
    }
    const Json shown = json();
    const auto slot_ns = shown["slot"].get<std::int64_t>();
    ASSERT_GT(durations.size(), 60'000u);
    EXPECT_EQ(shown["calls"], durations.size());
    EXPECT_LE(shown["drawn"].get<std::size_t>(), Timeline::most_cells + Timeline::most_longest);
    EXPECT_LT(shown.dump().size(), 300'000u);
    std::sort(durations.rbegin(), durations.rend());
    const std::int64_t sure = durations[Timeline::most_longest / 2];  // ties may be missing
    struct Slot {
        std::int64_t calls = 0, longest = 0, busy = 0;
    };
    const auto slots_of = [&](const Calls& of) {
        std::map<std::int64_t, Slot> slots;
        for (const auto& [from, duration, function] : of) {
            Slot& begins = slots[from / slot_ns];
            ++begins.calls;
            begins.longest = std::max(begins.longest, duration);
            for (std::int64_t at = from; at < from + duration;) {
                const std::int64_t end = std::min(from + duration, (at / slot_ns + 1) * slot_ns);
                slots[at / slot_ns].busy += end - at;
                at = end;
            }
        }
        return slots;
    };
    for (std::size_t depth = 0; depth < most_depth; ++depth) {
        const Json& row = shown["tracks"][0]["rows"][depth];
        const Calls drawn = calls(shown["tracks"][0], depth);
        const std::set<Told> happened(all[depth].begin(), all[depth].end());
        const std::set<Told> kept(drawn.begin(), drawn.end());
        EXPECT_EQ(kept.size(), drawn.size()) << "twice";
        EXPECT_TRUE(std::ranges::includes(happened, kept));
        for (const Told& each : happened)
            EXPECT_TRUE(std::get<1>(each) <= sure || kept.contains(each)) << std::get<1>(each);
        auto slots = slots_of(all[depth]), slots_drawn = slots_of(drawn);
        std::map<std::int64_t, std::int64_t> said;
        std::int64_t number = 0;
        for (std::size_t at = 0; at < row["slot"].size(); ++at) {
            number += row["slot"][at].get<std::int64_t>();
            said[number] = row["calls"][at];
            EXPECT_NEAR(
                row["busy"][at].get<double>(),
                100.0 * static_cast<double>(slots[number].busy) / static_cast<double>(slot_ns),
                0.51);
        }
        for (const auto& [at, slot] : slots) {
            EXPECT_EQ(slots_drawn[at].longest, slot.longest) << "the longest of slot " << at;
            EXPECT_EQ(said[at], slot.calls > slots_drawn[at].calls ? slot.calls : 0) << at;
        }
    }
}

TEST_F(TimelineTest, AnyInputGivesABoundedTimeline) {
    std::mt19937_64 random(9);
    for (std::uint32_t number = 3; number < 500; ++number)
        timeline.on_track({number, number % 256, number / 256});
    for (std::uint32_t number = 0; number < 500; ++number) {
        const Track track{number, number % 256, number / 256};
        for (unsigned depth = 0; depth < 300; ++depth)
            timeline.entry(track, 1 + depth % 9, number + depth);
        for (unsigned depth = 300; depth-- > 0;)
            timeline.leave(
                track,
                {.function = 1 + depth % 9, .to = number + 1000 - depth, .how = Left::returned});
        timeline.mark(track, 1, number + 1000);
    }
    for (unsigned n = 0; n < 100'000; ++n) {
        const std::uint64_t at = 3000 + n * std::uint64_t{1'000'000'000};
        timeline.absence(n % 3, {at, at + random() % 1000, 1, 0, 0});
        timeline.mark(core0, n, at);
    }
    timeline.whole(core0, 1, 5, std::uint64_t{1} << 62, 0xffffffff);
    timeline.whole(core0, 1, 0, std::uint64_t{1} << 62, 0);  // a hostile target: it began at 0
    timeline.point(core1, 77, std::uint64_t{1} << 61);
    const Json shown = json();
    EXPECT_LT(shown.dump().size(), 400'000u);
    EXPECT_EQ(shown["calls"], 500 * 300 + 3);
    EXPECT_EQ(shown["duration"], std::uint64_t{1} << 62);
    EXPECT_GE(shown["deeper"], 500 * (300 - 128));
    EXPECT_EQ(shown["left_out"],
              std::to_string(100'500 - Timeline::max_marks).insert(2, ",") + " marks");
    std::uint64_t lost = 0;
    EXPECT_LE(shown["bands"]["what"].size(), Timeline::max_absences);
    EXPECT_GT(shown["bands"]["what"].size(), Timeline::max_absences / 4);
    for (const Json& what : shown["bands"]["what"]) {
        std::string text = what;
        std::erase(text, ',');
        lost += std::stoull(text);
    }
    EXPECT_EQ(lost, 100'000u);
    EXPECT_EQ(shown["tracks"][2]["rows"][0]["function"].back(), -5)
        << "a function that nobody has introduced";
}

}  // namespace nopscope::host::test::timeline_test
