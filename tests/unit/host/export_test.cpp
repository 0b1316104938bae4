// SPDX-License-Identifier: Apache-2.0
// The writers that the export formats use.
#include "host-tools/views/export/ctf_event.hpp"
#include "host-tools/views/export/proto.hpp"
#include "host-tools/views/export/track_files.hpp"
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::export_test {

TEST(Proto, VarintsHaveSevenBitsAByte) {
    const auto bytes = [](std::uint64_t value) { return Proto().varint(value).text(); };
    EXPECT_EQ(bytes(0), std::string(1, '\0'));
    EXPECT_EQ(bytes(127), "\x7f");
    EXPECT_EQ(bytes(128), "\x80\x01");
    EXPECT_EQ(bytes(300), "\xac\x02");
    EXPECT_EQ(bytes(std::uint64_t{1} << 32), "\x80\x80\x80\x80\x10");
    EXPECT_EQ(bytes(~std::uint64_t{0}), "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
}

TEST(Proto, FieldsHaveTheirNumberAndKind) {
    EXPECT_EQ(Proto().number(1, 150).text(), "\x08\x96\x01");
    EXPECT_EQ(Proto().bytes(2, "testing").text(), "\x12\x07testing");
    EXPECT_EQ(Proto().message(3, Proto().number(1, 150)).text(), "\x1a\x03\x08\x96\x01");
    EXPECT_EQ(Proto().number(60, 1).text(), "\xe0\x03\x01");
    EXPECT_EQ(Proto().integer(1, -1).text(), "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
}

std::string header_of(std::uint8_t which, std::uint64_t now, std::uint64_t last,
                      bool full = false) {
    CtfEvent event;
    event.begin(which, now, last, full);
    return event.bytes();
}

TEST(CtfEvent, AHeaderIsOneWordWhereTheTimeIsNearAndElseThirteenBytes) {
    using namespace std::string_literals;
    EXPECT_EQ(header_of(1, 1, 0), "\x21\0\0\0"s);
    EXPECT_EQ(header_of(30, 0x7ff'ffff, 0), "\xfe\xff\xff\xff"s);
    // The reader must know the upper bits of the time.
    EXPECT_EQ(header_of(3, 0x1'2345'6789, 0x1'2345'6788), "\x23\xf1\xac\x68"s);
    EXPECT_EQ(header_of(3, (1u << 27) + 5, 6), "\xa3\0\0\0"s);
    EXPECT_EQ(header_of(3, (1u << 27) + 5, 5), "\x1f\x03\0\0\0\x05\0\0\x08\0\0\0\0"s);
    EXPECT_EQ(header_of(3, 7, 7, true), "\x1f\x03\0\0\0\x07\0\0\0\0\0\0\0"s);
}

TEST(CtfEvent, ATextEndsAtItsFirstZero) {
    CtfEvent event;
    event.text(std::string_view("ab\0c", 4)).add(std::int64_t{-2}).add(std::uint8_t{7});
    EXPECT_EQ(event.bytes(), std::string("ab\0\xfe\xff\xff\xff\xff\xff\xff\xff\x07", 12));
}

TEST(JsonText, IsAlwaysJson) {
    EXPECT_EQ(json_string("a\"b\\c\n"), R"("a\"b\\c\n")");
    EXPECT_EQ(json_string(std::string_view("\0\x1f", 2)), R"("\u0000\u001f")");
    EXPECT_EQ(json_string("\xff"), "\"\xef\xbf\xbd\"");
}

TEST(ExportFormats, AreSortedHaveOneWayAndBriefHelp) {
    std::string_view before;
    for (const ExportFormat& format : export_formats()) {
        EXPECT_LT(before, format.name);
        EXPECT_NE(format.stream == nullptr, format.aggregate == nullptr) << format.name;
        EXPECT_LT(format.what.size(), 80u) << format.name;
        EXPECT_EQ(find_export_format(format.name), &format);
        before = format.name;
    }
    EXPECT_EQ(find_export_format("Perfetto"), nullptr);
}

class OutputTest : public testing::Test {
protected:
    OutputTest() { fs::create_directory(directory); }
    ~OutputTest() override { fs::remove_all(directory); }
    std::size_t files() const {
        return static_cast<std::size_t>(
            std::distance(fs::directory_iterator(directory), fs::directory_iterator()));
    }
    // A writer of this format, which knows the functions f and g, 1 and 2.
    std::unique_ptr<EventSink> begin(const ExportFormat& format, const Output& output) const {
        auto sink = format.stream(output, TimeAxis::wall);
        sink->on_shown_part("1ms..2ms");
        sink->on_target({});
        sink->on_track(track);
        sink->on_function(1, {.name = "f", .file = {}});
        sink->on_function(2, {.name = "g", .file = {}});
        return sink;
    }

    const fs::path directory = fs::path(testing::TempDir()) / "outputs";
    const Track track;
};

TEST_F(OutputTest, EveryEventFormatSaysWhatItIsOfAndWhatItHasNoPlaceFor) {
    const std::string most =
        "1 call that was told whole, 1 gap, 1 mark, 1 counter value, 1 captured value, ";
    const std::string rest =
        "1 piece of console, 2 calls' counts of events, 1 time with interrupts masked";
    std::map<std::string_view, std::string> left_out{
        {"chrome", "1 captured value, 1 sample, 2 calls' counts of events"},
        {"speedscope", most + rest},
        {"trace-cmd", "1 sample"},
        {"uftrace", most + "1 sample, " + rest}};
    // Perfetto writes a varint, SQLite a big-endian number, the other formats a decimal number.
    constexpr std::uint64_t utc_ns = 1'700'000'000'000'001'500;
    const std::map<std::string_view, std::string> own_utc{
        {"perfetto", Proto().varint(utc_ns).text()},
        {"sqlite", "\x17\x97\x9c\xfe\x36\x2a\x05\xdc"}};
    const EventCount counts[] = {{0x11, 5}, {0x8, 7}};
    const std::uint32_t path[] = {1, 2};
    for (const ExportFormat& format : export_formats()) {
        if (format.stream == nullptr) continue;
        // Perfetto's packets are not compressed by themselves if the file is.
        const Output output(directory / (format.name == "perfetto" ? "x.gz" : "x"), format.kind);
        const auto sink = begin(format, output);
        Caller caller(*sink);
        caller.entry(track, 1, 1000);
        caller.entry(track, 2, 1100);
        caller.leave(track, 1200, Left::returned);
        sink->events(track, 2, counts, 1200);
        sink->masked(track, 2, 1150, 1250);
        sink->value(track, {.function = 1, .what = 0, .value = 4, .name = "x0"}, 1300);
        sink->mark(track, 7, 1400);
        sink->counter(track, 4, -5, 1500);
        sink->time_pair({.time = 1500, .utc_ns = utc_ns, .error_ns = 77, .exchanged = true});
        sink->sample(track, path, 1600);
        sink->console("a line", 1700);
        caller.leave(track, 2000, Left::returned);
        sink->events(track, 1, counts, 2000);
        sink->absence(0, {.from = 2000, .to = 3000, .lost = 5});
        sink->whole(track, 1, 3000, 4000, 1);
        sink->finish();
        EXPECT_EQ(sink->left_out(), left_out[format.name]) << format.name;
        std::string bytes;
        if (format.kind == Output::Kind::file) {
            bytes = gunzipped(output.path());
        } else {
            for (const auto& file : fs::directory_iterator(output.path()))
                bytes += text_of(file.path());
        }
        const auto own = own_utc.find(format.name);
        const std::string utc = own == own_utc.end() ? std::to_string(utc_ns) : own->second;
        for (const std::string& part : {std::string("times are raw"), std::string("1ms..2ms"), utc})
            EXPECT_THAT(bytes, HasSubstr(part)) << format.name;
    }
}

TEST_F(OutputTest, PerfettoHasEach512LevelsOnATrackOfTheirOwn) {
    const Output output(directory / "x.gz", Output::Kind::file);
    const auto sink = begin(*find_export_format("perfetto"), output);
    Caller caller(*sink);
    for (int i = 0; i < 600; ++i) caller.entry(track, 1, 1000);
    for (int i = 0; i < 1000; ++i) sink->mark(track, 7, 2000);  // they nest: levels 600 to 1599
    for (int i = 0; i < 600; ++i) caller.leave(track, 3000, Left::returned);
    sink->finish();
    const std::string bytes = gunzipped(output.path());
    std::vector<std::string> levels;
    for (std::size_t at = bytes.find("from depth"); at != bytes.npos;
         at = bytes.find("from depth", at + 1))
        levels.push_back(bytes.substr(at + 11, bytes.find(" on", at) - at - 11));
    EXPECT_THAT(levels, ElementsAre("512", "1024", "1536"));
}

TEST_F(OutputTest, ChromeEventsOfOneTimeHaveAnOrder) {
    const Output output(directory / "x", Output::Kind::file);
    const auto sink = begin(*find_export_format("chrome"), output);
    Caller caller(*sink);
    caller.entry(track, 1, 123'456);
    caller.entry(track, 2, 123'456);
    caller.leave(track, 123'456, Left::returned);
    caller.leave(track, 123'457, Left::unwound);
    sink->finish();
    const std::string text = text_of(output.path());
    for (const char* const event :
         {R"("ph":"B","pid":1,"tid":1,"ts":123.456,"cat":"call","name":"f"},)",
          R"("ph":"B","pid":1,"tid":1,"ts":123.456001,"cat":"call","name":"g"},)",
          R"("ph":"E","pid":1,"tid":1,"ts":123.456002,"cat":"call","name":"g"},)",
          R"("ph":"E","pid":1,"tid":1,"ts":123.457,"cat":"call","name":"f","left":"unwound"})"})
        EXPECT_THAT(text, HasSubstr(std::string("{") + event));
}

TEST_F(OutputTest, LargeAndSmallWritesAreInOrder) {
    std::string expected;
    FileWriter file(directory / "x");
    for (const std::size_t size : {1, 300'000, 7, 262'144, 0}) {
        const std::string part(size, static_cast<char>('a' + size % 26));
        file.write(part);
        file.used(std::copy_n("xyz", 3, file.room(3)));
        expected += part + "xyz";
        EXPECT_EQ(file.offset(), expected.size());
    }
    file.close();
    EXPECT_TRUE(text_of(directory / "x") == expected);
}

TEST_F(OutputTest, ANameThatEndsInGzIsCompressed) {
    std::string expected = "first";
    const Output output(directory / "x.gz", Output::Kind::file, 1'000'005);
    FileWriter file(output);
    file.gzip();  // it is already
    file.write("first");
    for (int i = 0; i < 10; ++i) {
        expected += std::string(100'000, static_cast<char>('a' + i));
        file.write(std::string_view(expected).substr(expected.size() - 100'000));
    }
    EXPECT_EQ(file.offset(), expected.size());
    EXPECT_THROW(file.expect(1), Error);  // the limit is that of the unpacked bytes
    file.close();
    EXPECT_LT(fs::file_size(output.path()), 10'000u);
    EXPECT_TRUE(gunzipped(output.path()) == expected);
}

TEST_F(OutputTest, WhatCannotBeCompressedIsRefused) {
    EXPECT_THROW(Output(directory / "x.gz", Output::Kind::directory), Error);
    const Output output(directory / "x.gz", Output::Kind::file);
    EXPECT_THROW(find_export_format("sqlite")->stream(output, TimeAxis::wall), Error);
    EXPECT_EQ(files(), 0u);
}

TEST_F(OutputTest, AnOutputThatIsNotCommittedLeavesNothingAndAFullDiskIsAnError) {
    for (const auto kind : {Output::Kind::file, Output::Kind::directory}) {
        {
            const Output output(directory / "x", kind);
            FileWriter(kind == Output::Kind::file ? output.path() : output.path() / "y").close();
            EXPECT_EQ(files(), 1u);
        }
        EXPECT_EQ(files(), 0u);
    }
    {  // one that is larger than allowed
        const Output output(directory / "x", Output::Kind::file, 600'000);
        FileWriter file(output);
        file.write(std::string(400'000, 'a'));
        file.expect(200'000);
        EXPECT_THROW(file.expect(200'001), Error);
        file.write(std::string(200'000, 'a'));
        file.flush();
        file.write("a");
        EXPECT_THROW(file.close(), Error);
        EXPECT_EQ(fs::file_size(output.path()), 600'000u);
    }
    EXPECT_EQ(files(), 0u);
    FileWriter file("/dev/full");
    file.write("x");
    EXPECT_THROW(file.close(), Error);
}

fs::path track_file_name(const fs::path& directory, std::uint32_t track) {
    return directory / std::to_string(track);
}

TEST_F(OutputTest, PartsOfTracksGoWithTheirOwner) {
    for (const bool kept : {false, true}) {
        TrackFiles tracks(directory, track_file_name);
        tracks.add(1);
        tracks.write(0, "a");
        EXPECT_EQ(files(), 0u) << "few bytes need no file";
        tracks.write(0, std::string(100'000, 'a'));
        EXPECT_EQ(files(), 1u);
        if (kept) tracks.keep();
        EXPECT_EQ(tracks.tracks() == 0, kept);
    }
    EXPECT_EQ(files(), 2u);
}

TEST_F(OutputTest, AnyNumberOfTracksGrowsApart) {
    TrackFiles tracks(directory, track_file_name);
    tracks.add(5000);
    const std::string long_part(100'000, 'l');
    for (std::uint32_t track = 0; track <= 2000; track += 500) {
        tracks.write(track, "a" + std::to_string(track));
        tracks.write(track, long_part);
        tracks.write(track, "b");
    }
    const std::string short_part(20'000, 's');  // 40 MB in all, more than memory keeps
    for (std::uint32_t track = 3000; track < 5000; ++track) tracks.write(track, short_part);
    EXPECT_GT(files(), 1000u);
    FileWriter file(directory / "all");
    for (std::uint32_t track = 0; track < tracks.tracks(); ++track) tracks.move_to(file, track);
    file.close();
    EXPECT_EQ(files(), 1u);
    std::string expected;
    for (int track = 0; track <= 2000; track += 500)
        expected += "a" + std::to_string(track) + long_part + "b";
    expected.append(2000 * short_part.size(), 's');
    EXPECT_TRUE(text_of(directory / "all") == expected);
}

}  // namespace nopscope::host::test::export_test
