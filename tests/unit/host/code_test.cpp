// SPDX-License-Identifier: Apache-2.0
// A page's code: real instructions, whatever the image says, and only text from source files.
#include <sys/stat.h>

#include "host-tools/image/source_text.hpp"
#include "host-tools/views/page/code.hpp"
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::code_test {

class Code : public testing::Test {
protected:
    Code() { fs::create_directory(directory); }
    ~Code() override { fs::remove_all(directory); }
    std::string put(const std::string& name, const std::string& bytes) {
        std::ofstream(directory / name, std::ios::binary) << bytes;
        return (directory / name).string();
    }
    Json json(const ElfBuilder& builder, const std::map<std::uint64_t, double>& shares) {
        const test::Bytes bytes = builder.build();
        const std::string path = put("image.elf", std::string(bytes.begin(), bytes.end()));
        Report report;
        for (const auto& [address, share] : shares) {
            report.functions.emplace_back().address = address;
            report.functions.back().share = share;
        }
        return CodeView(path, {directory}).json(report, [&](std::uint64_t address) {
            const auto found = shares.find(address);
            return found == shares.end() ? std::int64_t{-1} : std::distance(shares.begin(), found);
        });
    }
    static std::string refusal(const std::string& path,
                               const std::vector<std::string>& roots = {}) {
        return read_source_text(path, roots).refusal;
    }

    const fs::path directory = fs::path(testing::TempDir()) / "code";
};

TEST_F(Code, HasTheHottestFunctionsWithTheirSitesAndCalls) {
    ElfBuilder builder;
    const auto hot = builder.function("hot");
    const auto unknown = builder.function("<b>not in the page</b>", false, false);
    const auto caller = builder.next() + 8;
    const auto bl = [](std::uint64_t from, std::uint64_t to) {
        return ElfBuilder::branch(0x94000000, from, to);
    };
    const auto made =
        builder.function("caller", true, true,
                         {bl(caller + 12, hot), bl(caller + 16, unknown), 0x54ffffe1, 0x12345678});
    ASSERT_EQ(made, caller);
    builder.symbol("$x", ElfBuilder::text_base, 0, 0, true);
    builder.symbol("$d", caller + 24, 0, 0, true);
    const Json shown = json(builder, {{hot, 0.1}, {caller, 0.9}});
    ASSERT_EQ(shown["functions"].size(), 2u);
    const Json& first = shown["functions"][0];
    EXPECT_EQ(Json({first["function"], first["instructions"], first["shown"], first["slot"]}),
              Json({1, 8, 8, true}));
    EXPECT_EQ(first["text"], fmt::format("bti\tc\nnop\nnop\nbl\t{:#x}\nbl\t{:#x}\nb.ne\t{:#x}\n."
                                         "word\t0x12345678\n.word\t0xd65f03c0",
                                         hot, unknown, caller + 16));
    const Json targets{{"at", {3, 4, 5}},
                       {"function", {0, -1, 1}},
                       {"offset", {0, 0, 16}},
                       {"name", {"", "<b>not in the page</b>", ""}},
                       {"call", {true, true, false}}};
    EXPECT_EQ(first["targets"], targets);
    ASSERT_EQ(first["notes"].size(), 2u);
    EXPECT_EQ(Json({first["notes"][0][0], first["notes"][1][0]}), Json({1, 2}));
    EXPECT_EQ(shown["functions"][1]["function"], 0);
}

TEST_F(Code, OfRiscv64HasInstructionsOfTwoLengths) {
    ElfBuilder builder;
    builder.machine = 243;
    const std::uint64_t callee = ElfBuilder::text_base, hot = callee + 16;
    builder.text = {0x80828082, 0,          0x00010001, 0x00010001, 0x00010001,
                    0x00010001, 0x47851101, 0xfe5ff0ef, 0x00e78463, 0xbfcd8082};
    builder.symbol("callee", callee, 2, 2);
    builder.symbol("hot", hot, 2, 24);
    builder.symbol("$xrv64i2p1_c2p0", callee, 0, 0, true);
    builder.sites = {hot};
    const Json shown = json(builder, {{callee, 0.1}, {hot, 0.9}});
    ASSERT_EQ(shown["functions"].size(), 2u);
    const Json& first = shown["functions"][0];
    EXPECT_EQ(Json({first["instructions"], first["shown"], first["slot"]}), Json({10, 10, true}));
    EXPECT_EQ(first["text"],
              fmt::format("nop\nnop\nnop\nnop\naddi\tsp, sp, -32\nli\ta5, 1\njal\t{:#x}\n"
                          "beq\ta5, a4, {:#x}\nret\nj\t{:#x}",
                          callee, hot + 24, hot + 8));
    EXPECT_EQ(first["short"], Json({0, 1, 2, 3, 4, 5, 8, 9}));
    const Json targets{{"at", {6, 7, 9}},
                       {"function", {0, -1, 1}},
                       {"offset", {0, 0, 8}},
                       {"name", {"", hex_address(hot + 24), ""}},
                       {"call", {true, false, false}}};
    EXPECT_EQ(first["targets"], targets);
    EXPECT_EQ(Json({first["notes"][0][0], first["notes"][1][0]}), Json({0, 2}));
}

TEST_F(Code, IsBoundedWhateverTheImageSays) {
    ElfBuilder builder;
    std::map<std::uint64_t, double> shares;
    const auto add = [&](const std::string& name, std::size_t size, std::uint32_t word,
                         double share) {
        shares[builder.function(name, true, true, std::vector<std::uint32_t>(size, word))] = share;
    };
    add("large", 6000, 0x91000400, 1);
    for (int n = 0; n < 2; ++n) add("larger", 4000, 0x91000400, 0.001);
    for (int n = 0; n < 30; ++n) add(std::string(5000, 'n'), 300, 0x94000001, 0.01);
    builder.symbol("beyond", ElfBuilder::text_base + (1 << 30), 2, ~std::uint64_t{0});
    shares[ElfBuilder::text_base + (1 << 30)] = 0.5;
    const Json shown = json(builder, shares);
    EXPECT_EQ(shown["functions"][0]["instructions"], 6004);
    EXPECT_EQ(shown["functions"][0]["shown"], CodeView::max_instructions);
    EXPECT_LE(shown["functions"].size(), CodeView::max_functions);
    EXPECT_GT(shown["functions"].size(), 10u);
    EXPECT_LT(shown.dump().size(), 300'000u);
    std::size_t text = 0;
    for (const Json& one : shown["functions"]) text += one["text"].get<std::string>().size();
    EXPECT_LT(text, CodeView::max_bytes);
}

TEST_F(Code, PathsOfWindowsAreReadWithEitherSeparator) {
    put("good.c", "int one;");
    const std::string root = R"(C:\Users\Jo Doe\proj=)" + directory.string();
    for (const char* name :
         {R"(C:\Users\Jo Doe\proj\good.c)", "C:/Users/Jo Doe/proj/good.c",
          R"(c:\users\jo doe\proj\build/..\good.c)", R"(C:\Users\Jo Doe\proj\build\./..\good.c)",
          R"(C:\other\build/C:\Users\Jo Doe\proj\src\..\good.c)",
          R"(C:\\Users\\Jo Doe\\proj\\good.c)"}) {
        EXPECT_EQ(refusal(name, {root}), "") << name;
        EXPECT_EQ(refusal(name, {"C:/Users/Jo Doe/proj/=" + directory.string()}), "") << name;
    }
    EXPECT_EQ(refusal(R"(..\src\good.c)", {R"(..\src=)" + directory.string()}), "");
    EXPECT_EQ(refusal(R"(\\host\share\good.c)", {R"(\\host\share=)" + directory.string()}), "");
    EXPECT_EQ(refusal("/proj/build/../good.c", {"/proj=" + directory.string()}), "");
    EXPECT_NE(refusal(R"(C:\Users\Jo Doe\project\good.c)", {root}), "");
    EXPECT_NE(refusal(R"(C:\Users\Jo Doe\proj\..\..\good.c)", {root}), "");
}

TEST_F(Code, SourceIsReadFromFilesOfTextOnly) {
    const std::string good = put("good.c", "int one;\r\nint two;\n\nfour");
    EXPECT_THAT(read_source_text(good, {}).lines,
                testing::ElementsAre("int one;", "int two;", "", "four"));
    const std::string here = directory.string();
    EXPECT_EQ(refusal("good.c", {"/nowhere", directory}), "");
    EXPECT_EQ(refusal("project/good.c", {"project=" + here}), "");
    EXPECT_EQ(refusal("/built/elsewhere/good.c", {"/built/elsewhere=" + here}), "");
    EXPECT_EQ(refusal("good.c"), "no directory to look for it in is known");
    constexpr char outside[] = "it is outside of the directory that it is looked for in";
    EXPECT_EQ(refusal("../good.c", {directory}), outside);
    EXPECT_EQ(refusal("a/../../good.c", {directory}), outside);
    EXPECT_EQ(refusal("/x/../good.c", {"/x=" + here}), "No such file or directory");
    EXPECT_EQ(refusal(put("secret", "s")), "it has not the name of a source file");
    EXPECT_EQ(refusal(put("binary.c", std::string("a\0b", 3))), "it is not text");
    EXPECT_EQ(refusal((directory / "absent.c").string()), "No such file or directory");
    fs::create_directory(directory / "directory.c");
    fs::create_symlink("/dev/zero", directory / "device.c");
    ASSERT_EQ(mkfifo((directory / "pipe.c").c_str(), 0600), 0);
    for (const char* const name : {"directory.c", "device.c", "pipe.c"})
        EXPECT_EQ(refusal((directory / name).string()), "it is not a regular file") << name;
    fs::resize_file(put("huge.c", ""), SourceText::max_bytes + 1);
    EXPECT_EQ(refusal((directory / "huge.c").string()), "it is larger than 4 MiB");
}

}  // namespace nopscope::host::test::code_test
