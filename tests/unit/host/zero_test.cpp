// SPDX-License-Identifier: Apache-2.0
// Profiles of a part of a line: set to zero, they equal the part of the recording from there to the
// end; and copies.
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
    Report report = or_throw(make_report(profile, {}, &symbols, true));
    sort_rows(report.functions, SortKey::self, 0);
    return json_report(report) + json_graph(report, profile, {});
}

template <typename Trace>
void expect_zero_equals_part(const Trace& trace, unsigned seed) {
    Told told;
    read_line(trace.target, told);
    Origin sink;
    sink.quiet = true;
    Events events(sink, known(trace.symbols), "trace", std::nullopt);
    read_line(trace.target, events);
    std::mt19937 random(seed);
    for (unsigned n = 0; n < 4; ++n) {
        const std::size_t records = 10 + random() % (told.count - 10);  // any calls
        SCOPED_TRACE(fmt::format("seed {}, after {} of {} records", seed, records, told.count));
        ZeroAfter zeroed(records);
        zeroed.count_durations();
        read_line(trace.target, zeroed);
        Profile of_part;
        of_part.count_durations();
        read_part(trace.target, trace.symbols, of_time(zeroed.zeroed_at.value() - sink.origin),
                  of_part);
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
    // The profile is fed these records.
    void send(const std::string& records) {
        play(records + " |");
        profile.feed(std::exchange(target.bytes, {}));
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
    send("hello 1(@1 2(");
    profile.zero();
    send("3()");
    EXPECT_EQ(profile.context_of(1), 0u);
    profile.zero();
    send("101:)1");
    EXPECT_EQ(times_of(1).total_ticks, 100u) << "from the second zero on";
    EXPECT_EQ(times_of(3).calls, 0u);
}

TEST_F(ZeroOfALine, RecordsOfBeforeTheGivenClockDoNotCount) {
    send("hello 1()");
    profile.zero(target.clock + 500);
    send("1()");  // was still in the ring
    EXPECT_EQ(times_of(1).calls, 0u);
    send("600:2()");
    EXPECT_EQ(times_of(2).calls, 1u);
}

TEST_F(ZeroOfALine, AResetBeginsANewSession) {
    send("hello 1()");
    profile.zero();
    target.clock = 5;
    send("reset hello 1()");
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
    send("");
    profile.zero();
    const auto sums = [&] { return ended().on_target().functions(); };
    EXPECT_TRUE(sums().empty());
    read_out(2, 3);
    send("");
    const ProfiledTimes of = sums().at(8);
    EXPECT_EQ(std::tuple(of.calls, of.total_ticks, of.self_ticks, of.max_ticks, of.bins[3]),
              std::tuple(2u, 200u, 180, 100u, 0u));
    EXPECT_EQ(of.min_ticks, 64u) << "the bin's end: the least of all calls was before";
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

// A copy of a profile that is ended equals that of a session that ends there.
struct Read {
    Profile profile;
    SessionReader reader{profile};

    Read() { profile.count_durations(); }
};

// Every text that shows a profile.
std::string shown(const Profile& profile, const StreamCounters& stream, const LineCounters& line) {
    if (!profile.hello()) return {};
    const Report report =
        or_throw(make_report(profile, {.file = {}, .line = line, .stream = stream}, nullptr, true));
    return json_report(report) + json_graph(report, profile, {}) + view_json(report, profile, "t");
}

std::string of_copy(const Read& from) {
    Profile copy(from.profile);
    copy.on_session_end();
    return shown(copy, from.reader.counters(), from.reader.line());
}

// Without the records that a reader reports missing at the end of a session.
std::string of_prefix(std::span<const std::uint8_t> bytes) {
    Read read;
    read.reader.feed(bytes);
    const StreamCounters stream = read.reader.counters();
    const LineCounters line = read.reader.line();
    if (read.reader.has_session()) read.profile.on_session_end();
    return shown(read.profile, stream, line);
}

void expect_copies_of(const Bytes& bytes, std::size_t step) {
    Read read;
    for (std::size_t at = 0; at < bytes.size(); at += step) {
        const std::size_t end = std::min(bytes.size(), at + step);
        read.reader.feed({bytes.data() + at, end - at});
        if (!read.reader.has_session()) continue;
        ASSERT_EQ(of_copy(read), of_prefix({bytes.data(), end})) << "after " << end << " bytes";
    }
    Read undisturbed;
    undisturbed.reader.feed(bytes);
    undisturbed.reader.finish();
    read.reader.finish();
    EXPECT_EQ(shown(read.profile, read.reader.counters(), read.reader.line()),
              shown(undisturbed.profile, undisturbed.reader.counters(), undisturbed.reader.line()));
}

TEST(ProfileCopy, OfAGoldenLineAtAnyTime) {
    for (const char* name : {"stream.bin", "contexts.bin", "profile.bin", "captured.bin"}) {
        SCOPED_TRACE(name);
        const Bytes bytes = read_whole_file(std::string(NOPSCOPE_GOLDEN "/") + name);
        expect_copies_of(bytes, std::max<std::size_t>(bytes.size() / 25, 1));
    }
}

// Nested calls in several contexts and cores, gaps, the tracer's time, and duration records.
TEST(ProfileCopy, OfAnyOpenCalls) { expect_copies_of(busy_target(300).bytes, 1999); }

}  // namespace nopscope::host::test::zero_test
