// SPDX-License-Identifier: Apache-2.0
// A profile that is set to zero equals the part of the recording from there to the end.
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::zero_test {

// Sets itself to zero after so many records.
class ZeroAfter final : public Profile {
public:
    explicit ZeroAfter(std::size_t records) : left_(records) {}
    void on_trace(unsigned core, const TraceBatch& batch) override {
        TraceBatch rest = batch;
        if (!zeroed_at && batch.records.size() >= left_) {
            TraceBatch head = batch;
            head.records = batch.records.first(left_);
            Profile::on_trace(core, head);
            zero();
            zeroed_at = zero_clock();
            rest = {.first_index = batch.first_index + left_,
                    .records = batch.records.subspan(left_)};
        }
        left_ -= std::min(left_, batch.records.size());
        Profile::on_trace(core, rest);
    }

    std::optional<std::uint64_t> zeroed_at;  // the clock

private:
    std::size_t left_;
};

struct Origin : BalancedChecker {
    void on_origin(Nanoseconds at) override { origin = at; }
    Nanoseconds origin = 0;  // the clock from which a part's times count
};

std::string shown(const Profile& profile, const Symbols& symbols) {
    Report report = make_report(profile, {}, &symbols, true);
    sort_rows(report.functions, SortKey::self, 0);
    return json_report(report) + json_graph(report, profile, {});
}

template <typename Trace>
void expect_zero_equals_part(const Trace& trace, unsigned seed) {
    const auto symbols = known(trace.symbols);
    Told told;
    read_line(trace.target, told);
    Origin sink;
    sink.quiet = true;
    BalancedStream events(sink, symbols, "trace", std::nullopt);
    read_line(trace.target, events);
    std::mt19937 random(seed);
    for (unsigned n = 0; n < 4; ++n) {
        const std::size_t records = 10 + random() % (told.count - 10);  // any calls
        SCOPED_TRACE(fmt::format("seed {}, after {} of {} records", seed, records, told.count));
        ZeroAfter zeroed(records);
        zeroed.count_durations();
        read_line(trace.target, zeroed);
        Part part;
        part.time.from = TimePoint{.ns = zeroed.zeroed_at.value() - sink.origin};
        Profile of_part;
        of_part.count_durations();
        PartStream stream(of_part, part, symbols, "trace");
        read_line(trace.target, stream);
        EXPECT_EQ(shown(zeroed, trace.symbols), shown(of_part, trace.symbols));
    }
}

TEST(Zero, EqualsThePartFromThereToTheEnd) {
    for (unsigned seed = 5; seed < 120; seed += 10) {  // a clock of 1 GHz: no time is rounded
        if (const RandomTrace trace(seed); !trace.target.lossless)
            expect_zero_equals_part(trace, seed);
    }
}

// The records of one core arrive later than those of the other.
TEST(Zero, AppliesToEachCoreAtTheSameClockAndToTasksThatMove) {
    for (unsigned seed = 0; seed < 10; ++seed) {
        for (const bool moves : {false, true})
            expect_zero_equals_part(RandomTasks(seed, moves), seed);
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
    Profile ended() const {
        Profile view(profile);
        view.on_session_end();
        return view;
    }
    FunctionTimes times_of(std::uint32_t site) const {
        const Profile view = ended();
        for (std::uint32_t n = 0; n < view.functions().size(); ++n) {
            if (view.functions().offset(n) == 8 * site && n != FunctionTable::none)
                return view.times()[n];
        }
        return {};
    }

    TargetStream target;
    Play<TargetStream> play{target};
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
    play("1()");
    send();
    profile.zero(target.clock + 500);
    play("1()");  // was still in the ring
    send();
    EXPECT_EQ(times_of(1).calls, 0u);
    play("600:2()");
    send();
    EXPECT_EQ(times_of(2).calls, 1u);
}

TEST_F(ZeroOfALine, AResetBeginsANewSession) {
    target.hello();
    play("1()");
    send();
    profile.zero();
    target.reset();
    target.clock = 5;
    target.hello();
    play("1()");
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
    const auto sums = [&] { return ended().on_target().functions(); };
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
