// SPDX-License-Identifier: Apache-2.0
// Profile frames: writer and reader, what a reader makes of read-outs, and the report.
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::profile_test {

ProfileEntry entry(std::uint32_t site, std::initializer_list<std::uint64_t> durations,
                   std::int64_t self = 0) {
    ProfileEntry made;
    made.site_offset = 8 * site;
    made.min = ~std::uint64_t{0};
    for (const std::uint64_t ticks : durations) {
        made.total += ticks;
        made.min = std::min(made.min, ticks);
        made.max = std::max(made.max, ticks);
        ++made.bins[static_cast<unsigned>(std::bit_width(ticks))];
    }
    made.self = self != 0 ? self : static_cast<std::int64_t>(made.total);
    return made;
}

std::size_t write(protocol::Byte* payload, const protocol::ProfileHeader& header,
                  const std::vector<ProfileEntry>& entries) {
    protocol::ProfileWriter out(payload);
    for (const ProfileEntry& one : entries) {
        EXPECT_TRUE(out.has_room());
        out.put(one.site_offset, one.total, one.self, one.min, one.max,
                [&](unsigned bin) { return one.bins[bin]; });
    }
    return out.finish(header);
}

void send(TargetStream& target, const protocol::ProfileHeader& header,
          const std::vector<ProfileEntry>& entries, std::uint8_t core = 0) {
    target.frame(Stream::profile, core, write(target.payload(), header, entries));
}

using Figures = std::tuple<std::uint32_t, std::uint64_t, std::int64_t, std::uint64_t, std::uint64_t,
                           std::vector<std::uint64_t>>;
Figures figures(const ProfileEntry& of) {
    return {of.site_offset, of.total, of.self,
            of.min,         of.max,   {std::begin(of.bins), std::end(of.bins)}};
}
// All entries, and whether nothing is wrong.
std::pair<std::vector<Figures>, bool> read(std::span<const protocol::Byte> payload) {
    protocol::ProfileReader in(payload.data(), payload.size());
    std::vector<Figures> all;
    for (ProfileEntry entry; in.next(entry);) all.push_back(figures(entry));
    return {all, in.ok()};
}

TEST(ProfileWire, TheLargestEntryFits) {
    protocol::Byte payload[protocol::max_payload_bytes];
    ProfileEntry largest;
    largest.site_offset = 0xfffffff8;
    largest.total = largest.min = largest.max = ~std::uint64_t{0};
    largest.self = INT64_MIN;
    std::fill(std::begin(largest.bins), std::end(largest.bins), ~std::uint64_t{0});
    const protocol::ProfileHeader header{~std::uint64_t{0}, ~std::uint64_t{0} >> 1, true,
                                         ~std::uint64_t{0}};
    const std::size_t size = write(payload, header, {largest});
    EXPECT_LE(size, sizeof payload);
    EXPECT_EQ(size, 3 * protocol::max_varint_bytes + protocol::max_profile_entry_bytes);
    const auto head = protocol::ProfileReader(payload, size).header();
    EXPECT_EQ(std::tuple(head.number, head.part, head.last, head.now),
              std::tuple(header.number, header.part, true, header.now));
    EXPECT_EQ(read({payload, size}), std::pair(std::vector{figures(largest)}, true));
}

TEST(ProfileWire, RoundTripsAndStandsBeingCut) {
    std::mt19937_64 random(5);
    for (unsigned round = 0; round < 200; ++round) {
        std::vector<ProfileEntry> entries;
        std::vector<Figures> expected;
        std::uint32_t site = 0;
        for (unsigned n = 0; n < 4; ++n) {
            site += random() % 1000 + (n != 0);
            ProfileEntry one = entry(site, {random() >> (2 + random() % 62), 3});
            one.self = static_cast<std::int64_t>(random());
            for (unsigned i = random() % 5; i > 0; --i)
                one.bins[random() % protocol::profile_bins] = random() % 300;
            entries.push_back(one);
            expected.push_back(figures(one));
        }
        protocol::Byte payload[protocol::max_payload_bytes];
        const std::size_t size = write(payload, {round, round % 3, round % 2 == 0, 99}, entries);
        EXPECT_EQ(read({payload, size}), std::pair(expected, true));
        for (std::size_t cut = 0; cut < size; ++cut) {
            const auto part = read({payload, cut}).first;
            ASSERT_LT(part.size(), expected.size());
            EXPECT_TRUE(std::equal(part.begin(), part.end(), expected.begin()));
        }
    }
}

TEST(ProfileWire, RefusesWhatCannotBe) {
    EXPECT_TRUE(read(Bytes{1, 1, 5, 2, 9, 18, 9, 9, 1, 4, 1}).second);
    const std::pair<const char*, Bytes> wrong[] = {
        {"nothing", {}},
        {"too many bins", {1, 1, 5, 2, 9, 18, 9, 9, 64, 4, 1}},
        {"this bin does not exist", {1, 1, 5, 2, 9, 18, 9, 9, 1, 63, 1}},
        {"a site of 30 bits", {1, 1, 5, 0x80, 0x80, 0x80, 0x80, 2, 9, 18, 9, 9, 1, 4, 1}},
        {"cut", {1, 1, 5, 2, 9, 18, 9, 9, 1, 4}}};
    for (const auto& [what, payload] : wrong) EXPECT_FALSE(read(payload).second) << what;
}

class TargetProfileTest : public ReportTest {
protected:
    Report report() {
        Report result = ReportTest::report();
        sort_rows(result.functions, SortKey::self, 0);
        sort_rows(result.profile, SortKey::self, 0);
        return result;
    }
    static const ProfileRow& row(const Report& report, const std::string& name) {
        return named(report.profile, name);
    }
    static std::string text(const Report& report, const std::string& name) {
        const ProfileRow& of = row(report, name);
        return fmt::format("{} calls, total {}, self {}, from {} to {}, mean {}", of.calls,
                           of.total_ns, of.self_ns, of.call->min_ns, of.call->max_ns,
                           of.call->mean_ns);
    }
    static std::uint64_t incomplete(const Report& report) {
        return report.integrity.value("incomplete_profiles");
    }
};

TEST_F(TargetProfileTest, ALaterReadOutTakesThePlaceOfAnEarlierOne) {
    target.hello();
    send(target, {1, 0, false, 0}, {entry(1, {10})});
    send(target, {1, 1, true, 0}, {entry(2, {5})});
    send(target, {2, 0, false, 0}, {entry(1, {10, 30}, 25)});
    send(target, {2, 1, true, 0}, {entry(2, {5, 5, 5})});
    const Report result = report();
    EXPECT_TRUE(result.integrity.clean);
    EXPECT_EQ(result.read_out, 2u);
    ASSERT_EQ(result.profile.size(), 2u);
    EXPECT_EQ(text(result, "f1"), "2 calls, total 40, self 25, from 10 to 30, mean 20");
    EXPECT_NEAR(row(result, "f1").share, 25.0 / 40, 1e-9);
    EXPECT_EQ(text(result, "f2"), "3 calls, total 15, self 15, from 5 to 5, mean 5");
    EXPECT_EQ(row(result, "f2").address, TargetStream::text_base + 16);
}

TEST_F(TargetProfileTest, CoresAndSessionsAddUp) {
    target.cores = 2;
    for (unsigned session = 0; session < 2; ++session) {
        target.hello();
        send(target, {1, 0, true, 0}, {entry(1, {10, 20}), entry(3, {7})}, 0);
        send(target, {1, 0, true, 0}, {entry(1, {5, 100})}, 1);
        if (session == 0) {
            target.finish();
            target.reset();
        }
    }
    const Report result = report();
    EXPECT_EQ(text(result, "f1"), "8 calls, total 270, self 270, from 5 to 100, mean 34");
    EXPECT_EQ(row(result, "f1").bins[5], 2u);  // 20, twice
    EXPECT_EQ(text(result, "f3"), "2 calls, total 14, self 14, from 7 to 7, mean 7");
    EXPECT_EQ(incomplete(result), 0u);
}

TEST_F(TargetProfileTest, APartThatIsLostIsToldAndMadeGood) {
    target.hello();
    send(target, {1, 0, false, 0}, {entry(1, {10})});
    target.skip_sequence(Stream::profile);
    send(target, {1, 2, true, 0}, {entry(3, {10})});
    const TargetStream lost = target;
    const Report with_gap = report();
    EXPECT_EQ(incomplete(with_gap), 1u);
    EXPECT_FALSE(with_gap.integrity.clean);
    EXPECT_EQ(with_gap.profile.size(), 2u);

    target = lost;
    profile.~LineProfile();
    new (&profile) LineProfile;
    send(target, {2, 0, false, 0}, {entry(1, {10}), entry(2, {9})});
    send(target, {2, 1, true, 0}, {entry(3, {10})});
    const Report healed = report();
    EXPECT_EQ(incomplete(healed), 0u);
    EXPECT_EQ(healed.profile.size(), 3u);
}

TEST_F(TargetProfileTest, OnesThatDoNotEndAreIncomplete) {
    target.hello();
    send(target, {1, 0, true, 0}, {entry(1, {10})});
    send(target, {2, 0, false, 0}, {entry(1, {10, 10})});
    const Report result = report();
    EXPECT_EQ(incomplete(result), 1u);
    EXPECT_EQ(row(result, "f1").calls, 2u);
}

TEST_F(TargetProfileTest, MalformedOnesAreCounted) {
    target.hello();
    target.payload()[0] = 0x80;
    target.frame(Stream::profile, 0, 1);
    send(target, {0, 0, true, 0}, {entry(1, {10})});  // parts are numbered from 1
    const Report result = report();
    EXPECT_EQ(profile.counters().stream.malformed_frames, 2u);
    EXPECT_FALSE(result.integrity.clean);
    EXPECT_EQ(result.read_out, 0u);
    EXPECT_TRUE(result.profile.empty());
}

TEST(Percentile, IsTheEndOfItsBin) {
    ProfiledTimes times;
    EXPECT_EQ(times.percentile(50), 0u);
    times.add(entry(1, {0, 0, 5, 6, 100, 100, 100, 100, 100, 1000}));
    const std::map<unsigned, std::uint64_t> ends{{20, 0},   {21, 7},   {40, 7}, {50, 127},
                                                 {90, 127}, {91, 1000}};  // at most the maximum
    for (const auto& [share, end] : ends) EXPECT_EQ(times.percentile(share), end) << share;
    ProfiledTimes same;
    same.add(entry(1, {9, 9}));
    EXPECT_EQ(same.percentile(50), 9u);
}

TEST_F(TargetProfileTest, RecordsAndAProfileAreBothShown) {
    target.hello();
    target.ret(target.entry(4), 50);
    send(target, {1, 0, true, 0}, {entry(1, {10})});
    const Report result = report();
    const std::string text = text_report(result);
    EXPECT_THAT(text, HasSubstr("f4"));
    EXPECT_THAT(text, HasSubstr("profile, read-out 1"));
    const auto json = nlohmann::json::parse(json_report(result));
    EXPECT_EQ(json["functions"].size(), 1u);
    EXPECT_EQ(json["profile"]["functions"].size(), 1u);
    EXPECT_THAT(csv_report(result), HasSubstr("unwound"));
    EXPECT_THAT(csv_report(result), Not(HasSubstr("p99")));
}

TEST_F(TargetProfileTest, Golden) {
    target.clock_hz = 54'000'000;
    target.cores = 2;
    target.hello();
    send(target, {1, 0, false, 1000}, {entry(1, {100, 120}, 90)});
    send(target, {1, 1, true, 1010}, {entry(5, {0, 1, 2})});
    send(target, {1, 0, true, 1020}, {}, 1);
    send(target, {2, 0, false, 9000},
         {entry(1, {100, 120, 5000, 77, 130}, 4000), entry(2, {64, 63})});
    target.skip_sequence(Stream::profile);
    send(target, {2, 2, true, 9100}, {entry(7, {300})});
    send(target, {2, 0, true, 9200}, {entry(1, {90}), entry(3, {1 << 20}, -4)}, 1);
    const Report result = report();
    expect_golden("profile.bin", std::string(target.bytes.begin(), target.bytes.end()));
    expect_golden("profile.txt", text_report(result));
    expect_golden("profile.json", json_report(result));
    expect_golden("profile.csv", csv_report(result));
}

}  // namespace nopscope::host::test::profile_test
