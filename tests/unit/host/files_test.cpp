// SPDX-License-Identifier: Apache-2.0
// A command's files: a series, a file that replaces another, an output that is also an input. Text
// for an output that takes it slowly or never.
#include "host-tools/base/display.hpp"
#include "host-tools/base/new_file.hpp"
#include "host-tools/base/same_file.hpp"
#include "host-tools/live/series.hpp"
#include "host-tools/recording/format.hpp"
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::files_test {

class Files : public testing::Test {
protected:
    Files() : dir(testing::TempDir() + "files") { fs::create_directory(dir); }
    ~Files() override { fs::remove_all(dir); }

    std::string path(const std::string& name) const { return dir / name; }
    std::string write(const std::string& name, const std::string& text) const {
        test::write_file(path(name), bytes_of(text));
        return path(name);
    }
    std::string text_of(const std::string& name) const { return test::text_of(path(name)); }
    static std::string refused(const std::function<void()>& act) { return error_of(act).what(); }

    fs::path dir;
};

TEST(Rotation, IsATimeOrASize) {
    EXPECT_EQ(read_rotation("90s")->time, 90s);
    EXPECT_EQ(read_rotation("1.5m")->time, 90s);
    EXPECT_EQ(read_rotation("1h")->time, 1h);
    EXPECT_EQ(read_rotation("7d")->time, 168h);
    EXPECT_EQ(read_rotation("500MB")->bytes, 500'000'000u);
    EXPECT_EQ(read_rotation("1GiB")->bytes, std::uint64_t{1} << 30);
    for (const char* const text :
         {"", "s", "-1h", "0.5s", "nan", "nanh", "1e300h", "1x", "1h ", "9kB", "5"})
        EXPECT_FALSE(read_rotation(text)) << text;
}

TEST_F(Files, ASeriesGoesOnBehindItsHighestNumber) {
    const Series series(path("run.nsc"), {.time = 1s, .keep = 2});
    EXPECT_EQ(series.next_name(), path("run.000001.nsc"));
    write("run.000041.nsc", "");
    write("run.1000000.nsc.old", "");
    write("run.0000099.nsc", "");
    write("other.000099.nsc", "");
    EXPECT_EQ(series.next_name(), path("run.000042.nsc"));
    EXPECT_TRUE(series.is_due(1s, 0));
    EXPECT_FALSE(series.is_due(900ms, 1 << 30));
    EXPECT_TRUE(Series(path("run.nsc"), {.bytes = 5}).is_due(0s, 5));
}

TEST_F(Files, ASeriesKeepsItsNewestRecordings) {
    const std::string recording(reinterpret_cast<const char*>(&nsc::magic), sizeof nsc::magic);
    for (int n = 1; n <= 4; ++n)
        write("run.00000" + std::to_string(n) + ".nsc", n == 2 ? "no recording" : recording);
    Series(path("run.nsc"), {.keep = 0}).remove_oldest();
    EXPECT_TRUE(fs::exists(path("run.000001.nsc")));
    Series(path("run.nsc"), {.keep = 2}).remove_oldest();
    for (int n = 1; n <= 4; ++n)
        EXPECT_EQ(fs::exists(path("run.00000" + std::to_string(n) + ".nsc")), n != 1) << n;
}

TEST_F(Files, ASeriesThatIsWrittenIsRefused) {
    NewFile writer(path("run.000007.nsc"));
    writer.take_place();
    EXPECT_THAT(refused([&] { Series(path("run.nsc"), {}); }),
                HasSubstr("records into " + path("run.000007.nsc") + " already"));
}

TEST_F(Files, ANewFileReplacesTheOldOneOnlyAtCommit) {
    const std::string name = write("run.nsc", "old");
    {
        NewFile file(name);
        file.write(bytes_of("never kept"));
        EXPECT_EQ(text_of("run.nsc"), "old");
    }
    EXPECT_FALSE(fs::exists(part_name(name)));
    NewFile file(name);
    file.write(bytes_of("ne"));
    file.take_place();
    file.write(bytes_of("w"));
    EXPECT_TRUE(file.is_in_place());
    EXPECT_EQ(text_of("run.nsc"), "new");
    EXPECT_EQ(text_of("run.nsc.old"), "old");
    EXPECT_THAT(refused([&] { NewFile second(name); }), HasSubstr("already"));
    EXPECT_FALSE(fs::exists(part_name(name)));
}

TEST_F(Files, ALinkStaysAndLeadsToTheNewFileAndAnEmptyFileIsNotKept) {
    NewFile empty(write("empty.nsc", ""));
    empty.take_place();
    EXPECT_FALSE(fs::exists(path("empty.nsc.old")));
    write("there.nsc", "old");
    fs::create_symlink("there.nsc", path("run.nsc"));
    NewFile file(path("run.nsc"));
    file.write(bytes_of("new"));
    file.take_place();
    EXPECT_TRUE(fs::is_symlink(path("run.nsc")));
    EXPECT_EQ(text_of("there.nsc"), "new");
    EXPECT_EQ(text_of("there.nsc.old"), "old");
}

TEST_F(Files, AFileThatCannotBeWrittenIsSaid) {
    EXPECT_THAT(refused([&] { NewFile file(dir); }), HasSubstr("is a directory"));
    EXPECT_THAT(refused([&] { NewFile file(path("none/run.nsc")); }),
                HasSubstr("No such file or directory"));
    NewFile device("/dev/full");
    EXPECT_TRUE(device.is_in_place());
    EXPECT_THAT(refused([&] { device.write(bytes_of("x")); }), HasSubstr("No space left"));
}

TEST_F(Files, AFileThatCannotBeRenamedStaysInItsPart) {
    const std::string name = write("run.nsc", "old");
    fs::create_directory(path("run.nsc.old"));
    {
        NewFile file(name);
        file.write(bytes_of("new"));
        EXPECT_THAT(refused([&] { file.take_place(); }),
                    HasSubstr("the recording is in " + part_name(name)));
    }
    EXPECT_EQ(text_of("run.nsc"), "old");
    EXPECT_EQ(text_of("run.nsc.part"), "new");
    NewFile at_once(name, NewFile::Place::at_once);
    EXPECT_TRUE(at_once.is_in_place());
    EXPECT_EQ(text_of("run.nsc"), "");
}

TEST_F(Files, NamesOfOpenDescriptors) {
    EXPECT_EQ(open_descriptor("/dev/fd/3"), 3);
    EXPECT_EQ(open_descriptor("/proc/self/fd/1"), 1);
    for (const char* const name : {"/dev/fd/x", "/dev/fd/-1", "/dev/fd/3x", "3"})
        EXPECT_FALSE(open_descriptor(name)) << name;
}

TEST_F(Files, NoOutputIsAnInput) {
    const std::string input = write("in", "x"), other = write("other", "x");
    fs::create_symlink("in", path("link"));
    fs::create_hard_link(input, path("hard"));
    const std::vector<std::string> inputs{"", other, input, "/dev/null"};
    for (const std::string& output : {input, path("link"), path("hard"), dir.string()}) {
        EXPECT_THAT(refused([&] { refuse_if_same(output, inputs); }),
                    HasSubstr("a file that this command reads"))
            << output;
    }
    for (const std::string& output : {path("new"), std::string(), std::string("/dev/null")})
        EXPECT_EQ(refused([&] { refuse_if_same(output, inputs); }), "");
    fs::create_symlink("new", path("to new"));
    for (const auto& [one, two] : {std::pair{path("to new"), path("new")}, {input, path("hard")}}) {
        EXPECT_THAT(refused([&, &one = one, &two = two] { refuse_same_outputs(one, two); }),
                    HasSubstr("are one file"));
    }
    EXPECT_EQ(refused([&] { refuse_same_outputs(input, other); }), "");
}

class DisplayTest : public testing::Test {
protected:
    DisplayTest() { EXPECT_EQ(pipe(ends), 0); }
    // The display's thread may still write to the other end.
    ~DisplayTest() override { close(ends[0]); }
    static bool never() { return false; }

    int ends[2];
};

TEST_F(DisplayTest, ShowsAllInOrder) {
    Display display(ends[1]);
    display.show("one ");
    display.show("two");
    display.finish(5s, never);
    EXPECT_FALSE(display.is_behind());
    EXPECT_EQ(display.hidden_bytes(), 0u);
    char text[16] = {};
    EXPECT_EQ(read(ends[0], text, sizeof text), 7);
    EXPECT_EQ(std::string(text), "one two");
}

TEST_F(DisplayTest, NeverWaitsAndCountsWhatIsNotShown) {
    Display display(ends[1]);
    const std::string piece(1 << 16, 'x');
    for (int n = 0; n < 64; ++n) display.show(piece);  // a pipe holds 64 kB, and the display 1 MiB
    EXPECT_TRUE(display.is_behind());
    EXPECT_GE(display.hidden_bytes(), 40u << 16);
    display.finish(50ms, never);
    EXPECT_GE(display.hidden_bytes(), 62u << 16);
    EXPECT_LE(display.hidden_bytes(), 64u << 16);
}

TEST_F(DisplayTest, FinishesWhenItIsToldTo) {
    Display display(ends[1]);
    display.show(std::string(1 << 18, 'x'));
    display.finish(1h, [] { return true; });
    EXPECT_GT(display.hidden_bytes(), 0u);
}

TEST_F(DisplayTest, AReaderThatHasGoneIsAnErrorAndNothingIsCounted) {
    signal(SIGPIPE, SIG_IGN);
    int other[2];
    ASSERT_EQ(pipe(other), 0);
    close(other[0]);
    Display display(other[1]);
    display.show("lost");
    display.finish(5s, never);
    EXPECT_EQ(display.error(), EPIPE);
    display.show("more");
    EXPECT_EQ(display.hidden_bytes(), 0u);
    close(other[1]);
}

TEST_F(DisplayTest, KnowsOneFileByTwoDescriptors) {
    const int copy = dup(ends[1]);
    EXPECT_TRUE(is_same_file(ends[1], copy));
    EXPECT_FALSE(is_same_file(ends[1], STDIN_FILENO));
    close(copy);
}

}  // namespace nopscope::host::test::files_test
