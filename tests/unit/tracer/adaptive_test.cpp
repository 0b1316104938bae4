// SPDX-License-Identifier: Apache-2.0
// Adaptive mode's decisions on simulated loads: functions and a line with given rates.
#include "tests/unit/tracer/core_fixture.hpp"
#include "tracer/adaptive/demoted_sender.hpp"
#include "tracer/adaptive/leaf_sample.hpp"
#include "tracer/adaptive/load_meter.hpp"

namespace nopscope::adaptive_test {

using State = LoadMeter::State;

constexpr std::uint64_t hz = 1'000'000;
constexpr std::uint64_t window = hz / 20;
constexpr std::uint64_t pace = 11'520;  // bytes a second at 115200 baud

// Functions with these rates, in calls a second. A call makes two records of two bytes.
struct Program {
    explicit Program(std::map<std::uint32_t, std::uint64_t> rates) : rates_(std::move(rates)) {
        meter.open(hz, pace);
        moved->open(hz);
    }

    std::uint64_t records_a_second() const {
        std::uint64_t sum = 0;
        for (const auto& [site, rate] : rates_) sum += is_away(site) ? 0 : 2 * rate;
        return sum;
    }
    bool is_away(std::uint32_t site) const {
        for (const auto& one : moved->all())
            if (one.index == site && one.state == DemotedSites::State::moved) return true;
        return false;
    }
    void run(std::uint64_t ticks) {
        for (const std::uint64_t end = now + ticks; now < end; now += window) look();
    }
    void set(std::uint32_t site, std::uint64_t rate) { rates_[site] = rate; }

    static constexpr std::uint64_t carried = pace / 2;  // records a second on an idle line
    std::uint64_t now = hz;
    LoadMeter meter;
    std::unique_ptr<DemotedSites> moved = std::make_unique<DemotedSites>();

private:
    static constexpr std::uint64_t room = 5000;

    void look() {
        const std::uint64_t made = records_a_second() * window / hz;
        const std::uint64_t taken = std::min(made, room - waiting_);
        waiting_ += taken;
        const std::uint64_t sent = std::min(waiting_, carried * window / hz);
        waiting_ -= sent;
        for (const auto& [site, rate] : rates_)
            if (is_away(site)) calls_[site] += rate * window / hz;
        const State state = meter.judge(
            {window, taken, (made - taken) / 2, sent, 2 * sent, waiting_ * 1024 / room});
        if (state == State::overloaded) go();
        if (state == State::underused) come_back();
    }
    void go() {
        LeafSample sample;
        for (const auto& [site, rate] : rates_) {
            if (is_away(site)) continue;
            for (std::uint64_t n = 0; n < rate * window / hz; ++n) sample.count(site);
        }
        sample.add({}, records_a_second() * window / hz / 2);
        std::uint32_t chosen[32];
        const auto room_for = std::span(chosen).first(std::min<std::size_t>(32, moved->room()));
        const std::size_t count = sample.choose(meter.excess(), room_for, [&](std::uint32_t site) {
            return moved->may_demote(site) ? std::optional(site) : std::nullopt;
        });
        for (std::size_t i = 0; i < count; ++i) moved->demote(chosen[i], now, calls_[chosen[i]]);
    }
    void come_back() {
        const bool is_new =
            moved->note_calls(now, [&](std::uint32_t site) { return calls_[site]; });
        meter.ask_again();
        DemotedSites::Site* chosen[32];
        const std::size_t count = is_new ? moved->choose_to_promote(meter.spare(), now, chosen) : 0;
        for (std::size_t i = 0; i < count; ++i) moved->promote(*chosen[i], now);
    }

    std::map<std::uint32_t, std::uint64_t> rates_;
    std::map<std::uint32_t, std::uint64_t> calls_;
    std::uint64_t waiting_ = 0;
};

TEST(Adaptive, TheHottestGoUntilTheLineKeepsUp) {
    Program idle({{8, 1000}, {16, 500}});
    idle.run(60 * hz);
    EXPECT_EQ(idle.moved->moves(), 0u);
    Program program({{8, 100'000}, {16, 20'000}, {24, 1000}, {32, 10}});
    program.run(2 * hz);
    for (const std::uint32_t site : {8u, 16u, 24u, 32u})
        EXPECT_EQ(program.is_away(site), site <= 16) << site;
}

// `count` functions: the n-th has an n-th of the first one's rate.
std::map<std::uint32_t, std::uint64_t> harmonic(std::uint32_t count, std::uint64_t first) {
    std::map<std::uint32_t, std::uint64_t> rates;
    for (std::uint32_t n = 1; n <= count; ++n) rates[8 * n] = first / n;
    return rates;
}

// A line at 115200 baud carries less than a hundredth of these records.
TEST(Adaptive, ManyFunctionsAreMovedWithinTwoSeconds) {
    Program program(harmonic(100, 200'000));
    program.run(2 * hz);
    EXPECT_LT(program.records_a_second(), Program::carried);
}

TEST(Adaptive, ASteadyLoadComesToRest) {
    Program program(harmonic(60, 30'000));
    program.run(60 * hz);
    const std::uint64_t moves = program.moved->moves();
    EXPECT_GT(program.records_a_second(), Program::carried / 3);  // what fits has come back
    program.run(600 * hz);
    EXPECT_EQ(program.moved->moves(), moves);
}

TEST(Adaptive, AColdFunctionComesBack) {
    Program program({{8, 100'000}, {16, 100}});
    program.run(5 * hz);
    ASSERT_TRUE(program.is_away(8));
    program.set(8, 300);
    program.run(10 * hz);
    EXPECT_FALSE(program.is_away(8));
    EXPECT_EQ(program.moved->moves(), 2u);
}

// Cold when the mode looks, hot when it is back. So it stays away longer each time.
TEST(Adaptive, AFunctionThatAlternatesMovesLessAndLess) {
    Program program({{8, 100}, {16, 100}});
    std::uint64_t moves[4];
    for (std::uint64_t& count : moves) {
        const std::uint64_t before = program.moved->moves();
        for (unsigned second = 0; second < 300; ++second) {
            program.set(8, program.is_away(8) ? 10 : 100'000);
            program.run(hz);
        }
        count = program.moved->moves() - before;
    }
    EXPECT_GT(moves[0], 4u);
    EXPECT_LE(moves[3], 4u);
}

TEST(Adaptive, ALineWithoutAPaceIsMeasured) {
    LoadMeter meter;
    meter.open(hz, 0);
    const Load busy{window, 5000, 1000, 500, 1000, 1024};
    EXPECT_EQ(meter.judge(busy), State::overloaded);
    EXPECT_LE(meter.carried(), 500 * 20u);
    EXPECT_GT(meter.excess(), 1024 * 8 / 10u);
    LoadMeter idle;
    idle.open(hz, 0);
    for (unsigned n = 0; n < 200; ++n)
        EXPECT_EQ(idle.judge({window, 10, 0, 10, 20, 0}), State::steady);
}

using Chosen = std::set<std::uint32_t>;

Chosen chosen_of(LeafSample& sample, std::uint64_t excess) {
    std::uint32_t chosen[8];
    const std::size_t count =
        sample.choose(excess, chosen, [](std::uint32_t site) { return std::optional(site); });
    return {chosen, chosen + count};
}

struct Leaves : testing::CoreTest {
    void call(std::uint32_t site, std::uint32_t inside = 0) {
        ASSERT_TRUE(enter(site, 0x9000));
        if (inside != 0) {
            ASSERT_TRUE(enter(inside, 0x8000));
            leave();
        }
        leave();
    }
    Chosen chosen(std::uint64_t excess) {
        sample.scan(core, core.tail, core.cursor);
        return chosen_of(sample, excess);
    }
    LeafSample sample;
};

TEST_F(Leaves, AreCallsWithNothingInside) {
    for (unsigned n = 0; n < 20; ++n) call(0x1000, 0x2000);
    for (unsigned n = 0; n < 5; ++n) call(0x3000);
    EXPECT_EQ(chosen(1024), (Chosen{0x2000, 0x3000}));
}

TEST_F(Leaves, GoNoFurtherThanTheExcess) {
    for (unsigned n = 0; n < 30; ++n) call(0x1000);
    for (unsigned n = 0; n < 20; ++n) call(0x2000);
    EXPECT_EQ(chosen(512), Chosen{0x1000});
}

TEST_F(Leaves, ACrowdOfOthersDoesNotHideTheHottest) {
    for (std::uint32_t n = 0; n < 100'000; ++n) {
        sample.count(0x100000 + 8 * (n % 5000));
        if (n % 4 == 0) sample.count(0x1000);
    }
    LeafSample all;
    all.add(sample, 125'000);
    EXPECT_TRUE(chosen_of(all, 100).contains(0x1000));
}

TEST(DemotedSitesTest, AFullTableTakesTheOldestThatIsBack) {
    const auto moved = std::make_unique<DemotedSites>();
    moved->open(hz);
    for (std::uint32_t i = 0; i < DemotedSites::capacity; ++i) {
        ASSERT_TRUE(moved->may_demote(i));
        moved->demote(i, hz + i, 0);
    }
    EXPECT_EQ(moved->room(), 0u);
    moved->promote(moved->all()[7], 5 * hz);
    moved->forget(3, 4);
    EXPECT_EQ(moved->room(), 2u);
    EXPECT_EQ(moved->demoted_count(), DemotedSites::capacity - 2);
    for (const std::uint32_t more : {1'000'000u, 1'000'001u}) moved->demote(more, 6 * hz, 0);
    EXPECT_EQ(moved->room(), 0u);
    EXPECT_EQ(moved->demoted_count(), DemotedSites::capacity);
}

TEST(DemotedSitesTest, AFunctionThatCannotMoveIsNotAskedAgain) {
    const auto moved = std::make_unique<DemotedSites>();
    moved->bar(5);
    EXPECT_FALSE(moved->may_demote(5));
    EXPECT_EQ(moved->demoted_count(), 0u);
}

TEST(DemotedSitesTest, AllOfItIsToldAgainAndAgain) {
    std::vector<std::uint64_t> entries;
    for (std::uint64_t i = 0; i < DemotedSites::capacity; ++i) entries.push_back(0x10000 + 64 * i);
    SiteTable sites;
    sites.prepare(entries);
    const auto moved = std::make_unique<DemotedSites>();
    moved->open(hz);
    for (std::uint32_t i = 0; i < DemotedSites::capacity; ++i) moved->demote(i, hz << 20, 0);
    moved->promote(moved->all()[1], hz << 21);
    moved->forget(2, 3);

    using Told = std::map<std::uint32_t, std::pair<bool, std::uint64_t>>;  // away, since when
    Told expected;
    for (std::uint32_t i = 0; i < DemotedSites::capacity; ++i) {
        const auto offset = static_cast<std::uint32_t>(sites.function(i) - 0x10000);
        expected[offset] = {i != 1, i == 1 ? hz << 21 : hz << 20};
    }
    DemotedSender sender(*moved, sites);
    sender.open(0x10000, hz);
    std::uint64_t now = hz << 22;
    protocol::Byte payload[protocol::max_payload_bytes];
    EXPECT_FALSE(sender.waits(now));
    sender.begin();
    for (unsigned again = 0; again < 2; ++again) {
        Told told;
        unsigned frames = 0;
        for (; sender.waits(now); ++frames) {
            const std::size_t bytes = sender.next(now, payload);
            ASSERT_GT(bytes, 0u);
            ASSERT_LE(bytes, protocol::max_payload_bytes);
            protocol::MovedReader in(payload, bytes);
            EXPECT_EQ(in.moves(), DemotedSites::capacity + 1u);
            for (protocol::Move move; in.next(move);)
                told[move.site_offset] = {move.to_profile, move.clock};
            EXPECT_TRUE(in.ok());
        }
        EXPECT_GT(frames, 1u);
        EXPECT_EQ(told, expected);
        now += 3 * hz;
        EXPECT_FALSE(sender.waits(now));
        now += hz;
    }
    // Nothing is sent while the table is locked.
    ASSERT_TRUE(moved->try_lock());
    EXPECT_EQ(sender.next(now, payload), 0u);
}

TEST(DemotedSitesTest, AReaderRefusesWhatIsNoMove) {
    protocol::Byte payload[2 * protocol::max_varint_bytes + 1];
    const auto is_ok = [&](std::uint64_t site, std::uint64_t clock) {
        protocol::Writer out(payload);
        out.varint(1);
        out.varint(site);
        out.varint(clock);
        protocol::MovedReader in(payload, out.size());
        protocol::Move move;
        return in.next(move) && in.ok();
    };
    EXPECT_TRUE(is_ok((std::uint64_t{1} << 30) - 1, (std::uint64_t{1} << 48) - 1));
    EXPECT_FALSE(is_ok(std::uint64_t{1} << 30, 0));
    EXPECT_FALSE(is_ok(0, std::uint64_t{1} << 48));
    payload[0] = 0x80;
    EXPECT_FALSE(protocol::MovedReader(payload, 1).ok());
}

}  // namespace nopscope::adaptive_test
