// SPDX-License-Identifier: Apache-2.0
// A recording gives the same as its line did. The test reads whole, cut and damaged files.
#include "host-tools/line/stream/tee.hpp"
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::nsc_test {

// What a recording's bytes tell, read in pieces of odd sizes.
void read(std::span<const std::uint8_t> bytes, nsc::Reader& reader, SessionSink& sink) {
    or_throw(reader.read(
        [&](std::span<std::uint8_t> to) {
            const std::size_t count = std::min({to.size(), std::size_t{777}, bytes.size()});
            std::copy_n(bytes.begin(), count, to.begin());
            bytes = bytes.subspan(count);
            return count;
        },
        sink));
}

struct Again : Told {
    explicit Again(std::span<const std::uint8_t> bytes) { read(bytes, reader, *this); }
    const nsc::FileCounters& file() const { return reader.counters().file; }
    const StreamCounters& stream() const { return reader.counters().stream; }
    std::uint64_t damage() const {
        return file().damaged_chunks + file().skipped_bytes + file().cut_bytes;
    }
    // How often this was told.
    auto items(const std::string& what) const {
        return std::count_if(rest.begin(), rest.end(),
                             [&](const auto& item) { return item.starts_with(what); });
    }
    // Fails if a record is not in the sums, or is none of `all`, moved or repeated.
    void expect_part(Told& all) const {
        ASSERT_EQ(stream().delivered, count);
        ASSERT_EQ(stream().generated, count + stream().dropped + stream().lost);
        for (const auto& [core, part] : records) {
            const auto& whole = all.records[core];
            ASSERT_TRUE(std::includes(whole.begin(), whole.end(), part.begin(), part.end()));
        }
    }

    nsc::Reader reader;
};

class Nsc : public testing::Test {
protected:
    Nsc() {
        symbols.origin = "demo.elf";
        symbols.build_id = std::string("\x00\x01\xff", 3);
        symbols.site_table_crc = 0xdeadbeef;
        symbols.sites = {{0x40080010, 32, "main", "/src/main.c", 12},
                         {0x40080120, 0, "lua::call(int)", "", 0},
                         {0xffffff8000000000, 4, "far", "f.S", 3}};
        symbols.sites[2].landing_pad = false;
        symbols.tails.resize(3);
        symbols.tails[0].direct = {{0, Tail::always}, {2, Tail::maybe}};
        symbols.tails[2] = {.direct = {{1, Tail::never}}, .others = Tail::always};
    }
    ~Nsc() override { fs::remove(path); }

    // Records a line, with a flush after each `flush_bytes`.
    Bytes record(std::span<const std::uint8_t> left, std::size_t flush_bytes = 20'000,
                 bool with_end = true) {
        told = {};
        nsc::Writer writer(path, {.source = "exec:x", .tool = "t", .started_unix_ns = 99});
        writer.symbols(symbols);
        nsc::Journal journal(writer);
        Tee tee(journal, told);
        SessionReader reader(tee);
        const std::size_t size = left.size();
        while (!left.empty()) {
            const auto count = std::min(flush_bytes, left.size());
            reader.feed(left.first(count));
            left = left.subspan(count);
            journal.flush(reader.line(), reader.counters(), 7);
        }
        if (with_end) {
            reader.finish();
            journal.flush(reader.line(), reader.counters(), 8);
            writer.end({.reason = nsc::EndReason::duration, .exit_status = 3, .line_bytes = size});
        }
        EXPECT_EQ(writer.bytes(), fs::file_size(path));
        counted = {{}, reader.line(), reader.counters()};
        return read_whole_file(path);
    }
    // Sorted, because the cores' records and so their functions come in another order.
    static std::string sorted_report(const Profile& profile, const nsc::Counters& counters) {
        Report report = or_throw(make_report(profile, counters, nullptr));
        sort_rows(report.functions, SortKey::self, 0);
        // A file has each core's records in larger pieces, so another core's may be its first.
        // Times count from there.
        for (FunctionRow& row : report.functions) row.longest.reset();
        return json_report(report);
    }
    // Returns the report of the line, if that of its recording is the same.
    std::string same_report(const Bytes& bytes, std::size_t flush_bytes, const std::string& what) {
        LineProfile of_line;
        of_line.read(bytes);
        const std::string expected = sorted_report(of_line, of_line.counters());
        Profile of_file;
        nsc::Reader reader;
        read(record(bytes, flush_bytes), reader, of_file);
        EXPECT_TRUE(sorted_report(of_file, reader.counters()) == expected) << what;
        EXPECT_EQ(reader.counters().stream.frames_by_stream, counted.stream.frames_by_stream);
        return expected;
    }

    std::string path =
        fs::temp_directory_path() / ("nopscope-nsc-test-" + std::to_string(getpid()));
    Bytes line = busy_target().bytes;
    Symbols symbols;
    Told told;              // told by the line
    nsc::Counters counted;  // counted by the line
};

TEST_F(Nsc, RoundTrip) {
    Again again(record(line));
    EXPECT_EQ(again.records, told.records);
    EXPECT_EQ(again.gaps, told.gaps);
    std::ranges::sort(again.rest);
    std::ranges::sort(told.rest);
    EXPECT_EQ(again.rest, told.rest);
    EXPECT_GT(told.gaps.size(), 3u);
    EXPECT_EQ(again.items("reply 7 2 5 0 \xaa"), 2);
    EXPECT_GT(again.items("missing "), 10);
    EXPECT_EQ(again.damage(), 0u);
    again.expect_part(told);
    const nsc::Reader& reader = again.reader;
    EXPECT_EQ(reader.about().value().source, "exec:x");
    EXPECT_EQ(reader.about()->started_unix_ns, 99u);
    EXPECT_EQ(reader.end().value().exit_status, 3);
    EXPECT_EQ(reader.end()->line_bytes, line.size());
    ASSERT_TRUE(reader.symbols());
    const Symbols& kept = *reader.symbols();
    EXPECT_EQ(std::tuple(kept.build_id, kept.site_table_crc, kept.tails, kept.sites.size()),
              std::tuple(symbols.build_id, 0xdeadbeefu, symbols.tails, 3u));
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(kept.sites.at(i).size, symbols.sites[i].size);
        EXPECT_EQ(kept.sites[i].landing_pad, i != 2);
    }
    EXPECT_EQ(kept.tail(0x40080010, 0xffffff8000000000), Tail::maybe);
    const Function& far = *kept.find(0xffffff8000000000);
    EXPECT_EQ(std::tuple(far.name, far.line), std::tuple("far", 3u));
}

TEST_F(Nsc, KeepsClockPairsOfTheirSession) {
    const std::vector<ClockPair> pairs{{5, std::uint64_t{1} << 60, 40'000'000, false},
                                       {~std::uint64_t{0}, 7, 1, true}};
    TargetStream target;
    target.hello();
    target.finish();
    {
        nsc::Writer writer(path, {});
        nsc::Journal journal(writer);
        SessionReader reader(journal);
        journal.on_clock_pair(pairs[0]);  // before any session: ignored
        reader.feed(target.bytes);
        for (const ClockPair& pair : pairs) journal.on_clock_pair(pair);
        journal.flush(reader.line(), reader.counters(), 7);
    }
    EXPECT_EQ(Again(read_whole_file(path)).pairs, pairs);
}

TEST_F(Nsc, TheReportIsTheLinesOwn) {
    std::mt19937 random(8);
    for (int round = 0; round < 20; round += 2) {
        Bytes damaged = line;
        for (int i = 0; i < round; ++i) {
            damaged[random() % damaged.size()] ^= static_cast<std::uint8_t>(1 + random() % 255);
        }
        (void)same_report(damaged, 1 + random() % 30'000, std::to_string(round));
    }
}

// Names, switches and objects of tasks, and damaged frames.
TEST_F(Nsc, TheReportOfTasksIsTheLinesOwn) {
    const Bytes tasks = read_whole_file(NOPSCOPE_GOLDEN "/tasks.bin");
    const std::string report = same_report(tasks, tasks.size(), "tasks");
    EXPECT_THAT(report, AllOf(HasSubstr("switched_away"), HasSubstr("objects"),
                              HasSubstr("\"malformed_frames\": 2")));
    EXPECT_EQ(counted.stream.frames_by_stream[static_cast<std::size_t>(Stream::tasks)], 14u);
}

TEST_F(Nsc, NoCapturedByteIsLost) {
    Bytes damaged = line;
    for (std::size_t at = 5000; at < damaged.size(); at += 9000) damaged[at] ^= 0x55;
    damaged.insert(damaged.end(), 9000, 0xee);  // longer than any frame, and without an end
    const Again again(record(damaged));
    std::uint64_t corrupt = 0;
    for (const std::string& item : again.rest) {
        if (item.starts_with("corrupt 0 ")) corrupt += item.size() - 10;
    }
    const LineCounters& of_line = again.reader.counters().line;
    EXPECT_GT(of_line.corrupt_frames, 5u);
    EXPECT_EQ(of_line.cut_bytes, 9000u);
    EXPECT_GE(corrupt, 9000 + 50 * of_line.corrupt_frames);
    EXPECT_EQ(again.items("unused 99 "), 2);
}

TEST_F(Nsc, CutAnywhereItIsValidUpToThere) {
    const Bytes whole = record(line, 3000);
    std::uint64_t before = 0;
    for (std::size_t cut = 16; cut < whole.size(); cut += 97) {
        const Again again(std::span(whole).first(cut));
        again.expect_part(told);
        ASSERT_FALSE(again.file().has_end);
        ASSERT_GE(again.count, before) << "a longer part has more";
        before = again.count;
    }
    EXPECT_GT(before, told.count * 9 / 10);
    for (const std::size_t cut : {5u, 100u}) {  // in the last chunk, and before it
        const Again again(std::span(whole).first(whole.size() - cut));
        EXPECT_FALSE(again.file().has_end);
        EXPECT_GT(again.file().cut_bytes, 0u) << cut;
    }
}

TEST_F(Nsc, AFlippedByteCostsItsChunkAndIsCounted) {
    const Bytes whole = record(line, 3000);
    std::mt19937 random(4);
    int with_loss = 0;
    for (int round = 0; round < 300; ++round) {
        Bytes bytes = whole;
        const std::size_t at = 16 + random() % (bytes.size() - 16);
        bytes[at] ^= static_cast<std::uint8_t>(1u << (random() % 8));
        const Again again(bytes);
        ASSERT_GT(again.damage(), 0u) << at;
        ASSERT_EQ(again.session, told.session);
        again.expect_part(told);
        const std::uint64_t lost = told.count - again.count;
        with_loss += lost != 0;
        ASSERT_LT(lost, told.count / 8);
        if (again.file().has_end && again.stream().complete) {
            ASSERT_EQ(again.stream().lost, counted.stream.lost + lost);
        }
    }
    EXPECT_GT(with_loss, 100);
}

TEST_F(Nsc, ADamagedBlockIsAMissingPartOfItsCore) {
    const Bytes whole = record(line, 3000);
    constexpr std::uint32_t trace = 0x45435254;
    int blocks = 0, without_part = 0;
    for (std::size_t at = 16; at < whole.size(); ++blocks) {
        protocol::Reader in(whole.data() + at, 8);
        const bool is_trace = in.fixed<std::uint32_t>() == trace;
        at += 16 + in.fixed<std::uint32_t>();
        if (!is_trace) continue;
        Bytes damaged = whole;
        damaged[at - 1] ^= 1;
        const Again again(damaged);
        ASSERT_EQ(again.file().damaged_chunks, 1u);
        const std::uint64_t lost = told.count - again.count;
        ASSERT_GT(lost, 0u);
        ASSERT_EQ(again.stream().lost, counted.stream.lost + lost);
        // Behind the last block of a session, no record of the core shows the loss.
        const bool has_part = again.lost != told.lost;
        ASSERT_EQ(again.lost, told.lost + (has_part ? lost : 0));
        ASSERT_EQ(again.stream().gaps, counted.stream.gaps + has_part);
        without_part += !has_part;
    }
    EXPECT_GT(blocks, 50);
    EXPECT_EQ(without_part, 4) << "two cores, two sessions";
}

TEST_F(Nsc, ASessionWithoutItsEndIsCountedWhenTheLineIsOver) {
    TargetStream target;
    target.hello();
    target.call(1);
    target.stats(false);
    const Again again(record(target.bytes));
    EXPECT_EQ(counted.stream.unfinished_sessions, 1u);
    EXPECT_EQ(again.stream(), counted.stream);
    EXPECT_EQ(again.reader.counters().line, counted.line);
}

TEST_F(Nsc, AnotherFormatIsRefusedInOneSentence) {
    Bytes bytes = record(line);
    protocol::Writer header(bytes.data() + 8);
    header.fixed(std::uint16_t{1});
    header.fixed(std::uint16_t{0});
    header.fixed(protocol::crc32c(bytes.data(), 12));
    EXPECT_STREQ(error_of([&] { (void)Again(bytes); }).what(),
                 "the recording has format 1, and this nopscope reads 2");
}

TEST_F(Nsc, AKilledRecordersFileIsWholeAndChunksOfLaterVersionsAreSkipped) {
    Bytes bytes = record(line, 20'000, false);
    const std::size_t at = bytes.size();
    bytes.resize(at + 16 + 5, 1);
    protocol::Writer header(bytes.data() + at);
    header.fixed(std::uint32_t{0x12345678});
    header.fixed(std::uint32_t{5});
    header.fixed(protocol::crc32c(bytes.data() + at + 16, 5));
    header.fixed(protocol::crc32c(bytes.data() + at, 12));
    const Again again(bytes);
    EXPECT_EQ(again.records, told.records);
    EXPECT_EQ(again.file().unknown_chunks, 1u);
    EXPECT_FALSE(again.file().has_end);
    EXPECT_EQ(again.damage(), 0u);
    again.expect_part(told);
}

TEST_F(Nsc, ARawCaptureIsReadAsItIs) {
    record(line);
    const Again whole(line);
    EXPECT_EQ(whole.records, told.records);
    EXPECT_EQ(whole.rest, told.rest);
    for (const std::size_t size : {line.size(), std::size_t{0}, std::size_t{3}}) {
        const Again raw(std::span(line).first(size));
        EXPECT_TRUE(raw.file().is_raw);
        EXPECT_EQ(raw.reader.counters().line.bytes, size);
    }
}

TEST_F(Nsc, AFileThatIsNotThereIsOneSentence) {
    for (const char* const none : {"/nonexistent/x.nsc", "/"})
        EXPECT_THROW(or_throw(nsc::Reader().read_file(none, told)), Error);
}

}  // namespace nopscope::host::test::nsc_test
