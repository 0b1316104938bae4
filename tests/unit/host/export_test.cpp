// SPDX-License-Identifier: Apache-2.0
// The writers that formats are made of.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "host-tools/base/error.hpp"
#include "host-tools/export/ctf_event.hpp"
#include "host-tools/export/formats.hpp"
#include "host-tools/export/json_text.hpp"
#include "host-tools/export/proto.hpp"
#include "host-tools/export/track_files.hpp"

namespace nopscope::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

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

std::string header_of(std::uint8_t which, std::uint64_t now, std::uint64_t last, bool full = false) {
    CtfEvent event;
    event.begin(which, now, last, full);
    return event.bytes();
}

TEST(CtfEvent, AHeaderIsOneWordWhereTheTimeIsNear) {
    using namespace std::string_literals;
    EXPECT_EQ(header_of(1, 1, 0), "\x21\0\0\0"s);
    EXPECT_EQ(header_of(30, 0x7ff'ffff, 0), "\xfe\xff\xff\xff"s);
    // The time's upper bits are the reader's to know.
    EXPECT_EQ(header_of(3, 0x1'2345'6789, 0x1'2345'6788), "\x23\xf1\xac\x68"s);
    EXPECT_EQ(header_of(3, (1u << 27) + 5, 6), "\xa3\0\0\0"s);
}

TEST(CtfEvent, AHeaderIsThirteenBytesWhereItIsNot) {
    using namespace std::string_literals;
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
    OutputTest() : directory(fs::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name()) {
        fs::remove_all(directory);
        fs::create_directory(directory);
    }
    ~OutputTest() override { fs::remove_all(directory); }
    std::size_t files() const {
        return static_cast<std::size_t>(std::distance(fs::directory_iterator(directory), fs::directory_iterator()));
    }
    static std::string read(const fs::path& path) {
        std::ifstream file(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    fs::path directory;
};

TEST_F(OutputTest, LargeAndSmallWritesAreInOrder) {
    std::string expected;
    {
        FileWriter file(directory / "x");
        for (std::size_t size : {std::size_t{1}, std::size_t{300'000}, std::size_t{7}, std::size_t{262'144}, std::size_t{0}}) {
            const std::string part(size, static_cast<char>('a' + size % 26));
            file.write(part);
            expected += part;
            char* const room = file.room(3);
            file.used(std::copy_n("xyz", 3, room));
            expected += "xyz";
            EXPECT_EQ(file.offset(), expected.size());
        }
        file.close();
    }
    EXPECT_TRUE(read(directory / "x") == expected);
}

TEST_F(OutputTest, WhatIsNotCommittedLeavesNothing) {
    for (const auto kind : {Output::Kind::file, Output::Kind::directory}) {
        {
            const Output output(directory / "x", kind);
            FileWriter(kind == Output::Kind::file ? output.path() : output.path() / "y").close();
            EXPECT_EQ(files(), 1u);
        }
        EXPECT_EQ(files(), 0u);
    }
}

TEST_F(OutputTest, AFullDiskIsAnError) {
    FileWriter file("/dev/full");
    file.write("x");
    EXPECT_THROW(file.close(), Error);
}

TEST_F(OutputTest, AnyNumberOfTracksGrowsApart) {
    TrackFiles tracks(directory, [](const fs::path& at, std::uint32_t track) { return at / std::to_string(track); });
    tracks.add(2000);
    const std::string long_part(100'000, 'l');
    for (std::uint32_t track = 0; track <= 2000; track += 500) {
        tracks.write(track, "a" + std::to_string(track));
        tracks.write(track, long_part);
        tracks.write(track, "b");
    }
    tracks.flush();
    FileWriter file(directory / "all");
    for (std::uint32_t track = 0; track < tracks.tracks(); ++track) tracks.move_to(file, track);
    file.close();
    EXPECT_EQ(files(), 1u);
    std::string expected;
    for (const char* track : {"0", "500", "1000", "1500", "2000"}) expected += std::string("a") + track + long_part + "b";
    EXPECT_TRUE(read(directory / "all") == expected);
}

}  // namespace
}  // namespace nopscope::test
