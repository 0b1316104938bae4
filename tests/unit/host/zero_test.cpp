// SPDX-License-Identifier: Apache-2.0
// A profile that is set to zero equals the part of the recording from there to the end.
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::zero_test {

// Passes a line's contents on, and calls `then` after so many records.
class After final : public SessionSink {
public:
    After(Profile& profile, std::size_t records, std::function<void()> then)
        : profile_(profile), left_(records), then_(std::move(then)) {}

    void on_session(const HelloInfo& hello) override { profile_.on_session(hello); }
    void on_session_end() override { profile_.on_session_end(); }
    void on_missing(unsigned core, const MissingPart& part) override {
        profile_.on_missing(core, part);
    }
    void on_trace(unsigned core, const TraceBatch& batch) override {
        TraceBatch rest = batch;
        if (then_ && batch.records.size() >= left_) {
            TraceBatch head = batch;
            head.records = batch.records.first(left_);
            profile_.on_trace(core, head);
            std::exchange(then_, nullptr)();
            rest = {.first_index = batch.first_index + left_,
                    .records = batch.records.subspan(left_)};
        }
        left_ -= std::min(left_, batch.records.size());
        profile_.on_trace(core, rest);
    }

private:
    Profile& profile_;
    std::size_t left_;
    std::function<void()> then_;
};

// A random trace, and what a report of it shows.
template <typename Trace>
class Zeroed {
public:
    template <typename... Arguments>
    explicit Zeroed(unsigned seed, Arguments... more)
        : trace(seed, more...), seed_(seed), random_(seed) {}

    void expect_zero_equals_part() {
        SCOPED_TRACE(seed_);
        Told told;
        read_line(trace.target, told);
        for (unsigned n = 0; n < 4; ++n) {
            const std::size_t records = 10 + random_() % (told.count - 10);  // any calls
            SCOPED_TRACE(testing::Message() << "after " << records << " of " << told.count);
            std::uint64_t at = 0;
            const std::string zeroed = shown([&](Profile& profile) {
                After sink(profile, records, [&] {
                    profile.zero();
                    at = profile.zero_clock().value() - origin();
                });
                read_line(trace.target, sink);
            });
            EXPECT_EQ(zeroed, shown([&](Profile& profile) {
                          Part part;
                          part.time.from = TimePoint{.ns = at};
                          PartStream stream(profile, part, known(trace.symbols), "trace");
                          read_line(trace.target, stream);
                      }));
        }
    }

    const Trace trace;

private:
    // The clock from which a part's times count.
    std::uint64_t origin() const {
        struct : BalancedChecker {
            void on_origin(Nanoseconds at) override { origin = at; }
            Nanoseconds origin = 0;
        } sink;
        sink.quiet = true;
        BalancedStream events(sink, known(trace.symbols), "trace", std::nullopt);
        read_line(trace.target, events);
        return sink.origin;
    }
    template <typename Read>
    std::string shown(Read read) const {
        Profile profile;
        profile.count_durations();
        read(profile);
        Report report = make_report(profile, {}, &trace.symbols, true);
        sort_rows(report.functions, SortKey::self, 0);
        return json_report(report) + json_graph(report, profile, {});
    }

    unsigned seed_;
    std::mt19937 random_;
};

TEST(Zero, EqualsThePartFromThereToTheEnd) {
    for (unsigned seed = 5; seed < 120; seed += 5) {  // a clock of 1 GHz: no time is rounded
        Zeroed<RandomTrace> zeroed(seed);
        if (!zeroed.trace.target.lossless) zeroed.expect_zero_equals_part();
    }
}

// The records of one core arrive later than those of the other.
TEST(Zero, AppliesToEachCoreAtTheSameClockAndToTasksThatMove) {
    for (unsigned seed = 0; seed < 20; ++seed) {
        for (const bool moves : {false, true})
            Zeroed<RandomTasks>(seed, moves).expect_zero_equals_part();
    }
}

class ZeroOfALine : public testing::Test {
protected:
    // Feeds the profile what the target has made since.
    void send() {
        target.flush();
        profile.feed(target.bytes);
        target.bytes.clear();
    }
    FunctionTimes times_of(std::uint32_t site) const {
        Profile view(profile);
        view.on_session_end();
        for (std::uint32_t n = 0; n < view.functions().size(); ++n) {
            if (view.functions().offset(n) == 8 * site && n != FunctionTable::none)
                return view.times()[n];
        }
        return {};
    }

    TargetStream target;
    LineProfile profile;
};

TEST_F(ZeroOfALine, TwiceAndBeforeACoreSendsMore) {
    target.cores = 2;
    target.hello();
    target.entry(1, 10, 1);
    target.entry(2, 10, 0);
    send();
    profile.zero();
    target.ret(target.entry(3, 10, 0), 10, 0);
    send();
    EXPECT_EQ(profile.context_of(1), 0u);
    profile.zero();
    target.ret(0, 101, 1);
    send();
    EXPECT_EQ(times_of(1).total_ticks, 100u) << "from the second zero on";
    EXPECT_EQ(times_of(3).calls, 0u);
}

TEST_F(ZeroOfALine, RecordsOfBeforeTheGivenClockDoNotCount) {
    target.hello();
    target.ret(target.entry(1), 10);
    send();
    profile.zero(target.clock + 500);
    target.ret(target.entry(1), 10);  // was still in the ring
    send();
    EXPECT_EQ(times_of(1).calls, 0u);
    target.ret(target.entry(2, 600), 10);
    send();
    EXPECT_EQ(times_of(2).calls, 1u);
}

TEST_F(ZeroOfALine, AResetBeginsANewSession) {
    target.hello();
    target.ret(target.entry(1), 10);
    send();
    profile.zero();
    target.reset();
    target.clock = 5;
    target.hello();
    target.ret(target.entry(1), 10);
    send();
    EXPECT_EQ(times_of(1).calls, 1u);
}

TEST_F(ZeroOfALine, TheTargetsOwnSumsAreTakenOff) {
    const auto read_out = [&](std::uint64_t number, std::uint64_t longer) {
        const std::uint64_t calls[] = {3, longer};  // of 4 to 7 ticks, and of 64 to 127
        protocol::ProfileWriter out(target.payload());
        out.put(8, 15 + 100 * longer, static_cast<std::int64_t>(10 + 90 * longer), 5,
                longer == 0 ? 5 : 100, [&](unsigned bin) {
                    return bin == 3 ? calls[0] : bin == 7 ? calls[1] : 0;
                });
        target.frame(Stream::profile, 0, out.finish({number, 0, true, target.clock}));
    };
    target.hello();
    read_out(1, 1);
    send();
    profile.zero();
    const auto sums = [&] {
        Profile view(profile);
        view.on_session_end();
        return view.on_target().functions();
    };
    EXPECT_TRUE(sums().empty());
    read_out(2, 3);
    send();
    const ProfiledTimes of = sums().at(8);
    EXPECT_EQ(std::tuple(of.calls, of.total_ticks, of.self_ticks), std::tuple(2u, 200u, 180));
    EXPECT_EQ(of.min_ticks, 64u) << "the bin's end: the least of all calls was before";
    EXPECT_EQ(of.max_ticks, 100u);
    EXPECT_EQ(of.bins[3], 0u);
    EXPECT_EQ(of.bins[7], 2u);
}

TEST(Zero, TheTargetsEventsAreTakenOff) {
    TargetEvents events;
    MemoryBudget budget;
    const auto read_out = [&](std::uint64_t calls) {
        protocol::Byte payload[protocol::max_payload_bytes];
        protocol::ProfileEventsWriter out(payload, protocol::events_argument(0x11));
        protocol::ProfileEventsEntry entry{.site_offset = 8, .calls = calls};
        entry.total[0] = 10 * calls;
        entry.self[0] = 4 * calls;
        out.put(entry);
        events.on_frame(0, payload, out.finish({1, 0, true, 1, protocol::events_argument(0x11)}),
                        budget);
    };
    read_out(5);
    events.zero(budget);
    read_out(7);
    events.on_session_end(budget);
    const EventSums sums = events.functions().at(8).at(0x11);
    EXPECT_EQ(std::tuple(sums.calls, sums.total, sums.self), std::tuple(2u, 20u, 8u));
}

}  // namespace nopscope::host::test::zero_test
