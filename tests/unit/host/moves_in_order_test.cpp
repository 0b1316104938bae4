// SPDX-License-Identifier: Apache-2.0
// The order in which sinks get the records of tasks that move between cores.
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::moves_in_order_test {

using Records = std::vector<StampedRecord>;

StampedRecord call() { return {protocol::make_record({}, 1, 5), 5}; }
StampedRecord context(std::uint32_t number) {
    return {protocol::make_extended(Extended::context, number, 5), 5};
}
StampedRecord moved(unsigned data) {
    return {
        protocol::make_extended(Extended::task, protocol::task_argument(TaskFact::moved, data), 5),
        5};
}
Records calls(std::size_t count) { return Records(count, call()); }
// A call; a context that has left `from` at index `after`; a call.
Records move(unsigned from, std::uint64_t after, std::uint32_t number = 7) {
    return {call(),
            context(number),
            moved(1),
            {protocol::make_data(protocol::moved_data(from, after)), 5},
            call()};
}

// What a sink gets: a core's records, and a gap in them, by index.
struct Order : SessionSink {
    void on_trace(unsigned core, const TraceBatch& batch) override {
        if (batch.gap) came.push_back({core, '+', batch.first_index});
        for (std::size_t n = 0; n < batch.records.size(); ++n)
            came.push_back({core, ':', batch.first_index + n});
    }
    void on_missing(unsigned core, const MissingPart&) override { came.push_back({core, 'm', 0}); }
    void on_stats(unsigned, const protocol::Stats&) override { ++stats; }
    void on_session_end() override { ++ended; }
    using Item = std::tuple<unsigned, char, std::uint64_t>;
    std::vector<Item> came;
    int stats = 0, ended = 0;
};

class Course {
public:
    explicit Course(std::size_t most = 1000) : moves(sink, most) { begin(); }
    void batch(unsigned core, const Records& records, std::uint64_t missing = 0) {
        next_[core] += missing;
        moves.on_trace(
            core,
            {.first_index = next_[core], .records = records, .gap = missing != 0, .context = 3});
        next_[core] += records.size();
    }
    // What came since the last time. "0:3-5 1+8 1:8": records 3 to 5 of core 0, then a gap of core
    // 1, which ends at its record 8, and this. "1m0": a missing part of core 1.
    std::string come() {
        const auto all = std::exchange(sink.came, {});
        std::vector<std::string> list;
        for (std::size_t at = 0, end = 0; at < all.size(); at = end) {
            const auto [core, what, first] = all[at];
            for (end = at + 1; what == ':' && end < all.size() &&
                               all[end] == Order::Item{core, what, first + end - at};)
                ++end;
            list.push_back(fmt::format("{}{}{}", core, what, first));
            if (end - at > 1) list.back() += fmt::format("-{}", first + end - at - 1);
        }
        return joined(list, " ");
    }
    // What came after these. On core 0:
    //   0:2  0:2+3   two calls; after three records that are missing
    //   0<1@4#8      move(1, 4, 8); without "#8" of context 7
    //   0>1@4+3      the same without its first call
    //   0x5  0c5     a call and a switch to context 5; this switch and a call
    //   0w5          a switch that says "moved" without from where, and a call
    //   0s  0! 0m    stats; the last ones; a missing part
    //   0e           the session ends, and the next begins
    std::string after(const std::string& course) {
        static const std::regex form(R"((\d)(\D)(\d*)(?:@(\d+))?(?:#(\d+))?(?:\+(\d+))?)");
        std::istringstream words(course);
        for (std::string word; words >> word;) {
            std::smatch of;
            if (!std::regex_match(word, of, form)) throw std::invalid_argument(word);
            const auto number = [&](std::size_t group, unsigned otherwise = 0) {
                return of[group].length() == 0 ? otherwise
                                               : static_cast<unsigned>(std::stoul(of[group]));
            };
            const unsigned core = number(1), argument = number(3);
            Records records = move(argument, number(4), number(5, 7));
            protocol::Stats stats;
            switch (of.str(2)[0]) {
            case ':': records = calls(argument); break;
            case '<': break;
            case '>': records.erase(records.begin()); break;
            case 'x': records = {call(), context(argument)}; break;
            case 'c': records = {context(argument), call()}; break;
            case 'w': records = {context(argument), moved(0), call()}; break;
            case 'm': moves.on_missing(core, {}); continue;
            case 'e':
                moves.on_session_end();
                begin();
                continue;
            default:
                stats.final = of.str(2) == "!";
                moves.on_stats(core, stats);
                continue;
            }
            batch(core, records, number(6));
        }
        return come();
    }

    Order sink;
    MovesInOrder moves;

private:
    void begin() {
        HelloInfo hello;
        hello.cores = 4;
        moves.on_session(hello);
        std::fill(std::begin(next_), std::end(next_), 0);
    }
    std::uint64_t next_[4] = {};
};

struct Case {
    const char* what;
    std::vector<std::pair<const char*, const char*>> steps;  // a course, and what came
    std::size_t most = 1000;                                 // records in memory
};
const Case cases[] = {
    {"all passes that is in order", {{"0:3", "0:0-2"}, {"1<0@2", "1:0-4"}}},
    {"the new core waits for the old one",
     {{"0:2 1<0@4 1:2", "0:0-1 1:0"},
      {"2:1", "2:0"},
      {"0:2", "0:2-3"},  // the record of the switch, index 4, is on its way
      {"0:1", "0:4 1:1-6"}}},
    {"the old core sleeps, has not recorded its switch, and says that it has no more",
     {{"0:3 0s 0:1 1<0@4", "0:0-3 1:0"}, {"1s 1s 0s", ""}, {"0s", "1:1-4"}}},
    {"the old core says that it is over", {{"0:4 1<0@4", "0:0-3 1:0"}, {"0!", "1:1-4"}}},
    {"records of the pump come before the switch, in the context still",
     {{"0c7 1<0@2 0:2", "0:0-1 1:0 0:2-3"}, {"0c0", "0:4-5 1:1-4"}}},
    {"a waiting core has more: core 1's next record for the sinks is 1",
     {{"1<0@3 2<1@1", "1:0 2:0"}, {"1s", ""}}},
    {"one core lets another go on", {{"2<1@1#8 1<0@1", "2:0 1:0"}, {"0:2", "0:0-1 1:1-4 2:1-4"}}},
    {"a gap that waits, and then again in its middle, is told once",
     {{"1<0@1", "1:0"}, {"1<2@1#8+5", ""}, {"0:2 2:2", "0:0-1 1:1-4 1+10 1:10 2:0-1 1:11-14"}}},
    {"a switch at a frame's end waits for the next frame",
     {{"1x5", "1:0"}, {"1:1", "1:1-2"}, {"1x0", "1:3-4"}}},
    {"a gap of the old core that ends later is enough", {{"1<0@4 0:1+7", "1:0 0+7 0:7 1:1-4"}}},
    {"gaps and missing parts keep their places",
     {{"1<0@4 1m 1:1+3", "1:0"}, {"0:5", "0:0-4 1:1-4 1m0 1+8 1:8"}, {"1m", "1m0"}}},
    {"a switch before a gap is not a move: the gap has taken the `moved` record along",
     {{"1x5", "1:0"}, {"1:1+2", "1:1 1+4 1:4"}}},
    {"a core that begins with a move after a gap has one gap",
     {{"1>0@4+6", "1+6"}, {"0:5", "0:0-4 1:6-9"}}},
    {"the session's end passes everything, and the next session knows nothing of this one",
     {{"2<1@50 1<0@4 3x5", "2:0 1:0 3:0"}, {"0e", "3:1 2:1-4 1:1-4"}, {"1<2@3", "1:0"}}},
    {"memory has a limit: the core that waits longest goes on; this is not enough, so do others",
     {{"1<0@4 2<0@4", "1:0 2:0"}, {"2:9", ""}, {"2:9", "1:1-4 2:1-22"}},
     20},
    {"a move from the same core does not wait, nor does one without data",
     {{"1<1@70", "1:0-4"}, {"1w5", "1:5-7"}}},
};

TEST(MovesInOrder, Cases) {
    for (const Case& one : cases) {
        SCOPED_TRACE(one.what);
        Course course(one.most);
        std::string all;
        for (const auto& [records, order] : one.steps) {
            EXPECT_EQ(course.after(records), order);
            all += records;
        }
        EXPECT_EQ(course.sink.stats, std::count_if(all.begin(), all.end(), [](char letter) {
                      return letter == 's' || letter == '!';
                  }));
        EXPECT_EQ(course.sink.ended, std::count(all.begin(), all.end(), 'e'));
    }
}

TEST(MovesInOrder, SayForWhichContextACoreWaits) {
    Course course;
    for (const auto& [records, context] : std::vector<std::pair<const char*, unsigned>>{
             {"1<0@2", 7}, {"0:3", 0}, {"2:1", 0}, {"1x5", 5}, {"1:1", 0}}) {
        course.after(records);
        EXPECT_EQ(course.moves.waiting_context(1).value_or(0), context) << records;
    }
}

TEST(MovesInOrder, FramesSplitTheRecordsOfAMove) {
    const Records all = move(0, 1);
    for (long split = 1; split <= 4; ++split) {
        for (long second = split; second <= 4; ++second) {
            Course course;
            const auto part = [&](long from, long to) {
                if (from != to) course.batch(1, Records(all.begin() + from, all.begin() + to));
            };
            part(0, split);
            part(split, second);
            part(second, 5);
            EXPECT_EQ(course.come(), "1:0") << split << " " << second;
            EXPECT_EQ(course.after("0:2"), "0:0-1 1:1-4");
        }
    }
}

TEST(MovesInOrder, AMoveInALongBatchIsFound) {
    for (std::size_t before = 60; before < 70; ++before) {
        Records records = calls(before);
        for (const StampedRecord& one : move(3, 4)) records.push_back(one);
        Course course;
        course.batch(1, records);
        EXPECT_EQ(course.come(), fmt::format("1:0-{}", before));
        EXPECT_EQ(course.after("0e"), fmt::format("1:{}-{}", before + 1, before + 4));
    }
}

}  // namespace nopscope::host::test::moves_in_order_test
