// SPDX-License-Identifier: Apache-2.0
// The page shows what the report says, even if it leaves parts out. Data on it stays data.
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::html_test {

TEST(DurationBins, EachDurationIsInTheBinThatBeginsBelowIt) {
    for (const std::uint64_t ticks :
         {0ull, 1ull, 3ull, 4ull, 5ull, 7ull, 8ull, 15ull, 16ull, 1000ull, 1ull << 40, ~0ull}) {
        const unsigned bin = DurationBins::bin_of(ticks);
        ASSERT_LT(bin, DurationBins::count);
        EXPECT_LE(DurationBins::first_of(bin), ticks);
        if (bin + 1 < DurationBins::count) {
            EXPECT_GT(DurationBins::first_of(bin + 1), ticks);
        }
    }
    for (unsigned bin = 0; bin < DurationBins::count; ++bin) {
        EXPECT_EQ(DurationBins::bin_of(DurationBins::first_of(bin)), bin);
    }
}

std::uint64_t sum(const json& list) {
    std::uint64_t all = 0;
    for (const json& each : list) all += each.get<std::uint64_t>();
    return all;
}

// The calls in a function's bins.
std::uint64_t binned(const json& function) {
    std::uint64_t all = 0;
    for (const json& bin : function["bins"]) all += bin[1].get<std::uint64_t>();
    return all;
}
// The page's function of this name.
const json& named(const json& shown, const std::string& name) {
    for (const json& function : shown["functions"]) {
        if (function["name"] == name) return function;
    }
    throw std::out_of_range(name);
}

class HtmlTest : public test::PlayedReport {
protected:
    // A tree: 1 calls 2 and 3, 2 calls 3, several times.
    json view(std::size_t most = 1000) {
        target.hello();
        for (int n = 0; n < 4; ++n) play("1( 100:2( 5:3( 7:) 20:) 5:3( 1000:) 30:)");
        profile.count_durations();
        return json::parse(view_json(report(), profile, "title", most));
    }
};

TEST_F(HtmlTest, PathsAndFunctionsAreTheReports) {
    const json shown = view();
    const json& paths = shown["paths"];
    ASSERT_EQ(paths["parent"], json({0, 0, 1, 2, 1}));  // all, 1, 1>2, 1>2>3, 1>3
    EXPECT_EQ(paths["calls"], json({0, 4, 4, 4, 4}));
    EXPECT_EQ(paths["total"], json({4 * 1167, 4 * 1167, 4 * 32, 4 * 7, 4 * 1000}));
    EXPECT_EQ(paths["self"], json({0, 4 * 135, 4 * 25, 4 * 7, 4 * 1000}));
    EXPECT_EQ(made.functions.size(), 3u);
    for (const FunctionRow& row : made.functions) {
        const json& function = named(shown, row.name);
        EXPECT_EQ(function["calls"], row.calls);
        EXPECT_EQ(function["self"], row.corrected.self_ns);
        EXPECT_EQ(function["total"], row.corrected.total_ns);
        EXPECT_EQ(function["max"], row.corrected.call->max_ns);
        EXPECT_EQ(binned(function), row.calls);
    }
    const json& three = shown["functions"][paths["function"][4].get<std::size_t>()];
    EXPECT_EQ(three["bins"][0], json({7, 4}));
    EXPECT_EQ(three["bins"].back(), json({896, 4}));
    EXPECT_EQ(shown["complaint"], "");
    EXPECT_EQ(shown["sampled"], false);
}

TEST_F(HtmlTest, PathsThatAreLeftOutStayInTheSums) {
    const json all = view();
    const json few = json::parse(view_json(made, profile, "title", 3));
    const json& paths = few["paths"];
    ASSERT_EQ(paths["function"].size(), 4u);  // all, 1, 1>3, and the rest of 1
    EXPECT_EQ(paths["function"][2], -2);
    EXPECT_EQ(paths["total"][2], 4 * 32);
    EXPECT_EQ(paths["calls"][2], 8);
    EXPECT_EQ(sum(paths["self"]), sum(all["paths"]["self"]));
    EXPECT_EQ(sum(paths["calls"]), sum(all["paths"]["calls"]));
}

TEST_F(HtmlTest, ARecordingThatIsSpoiltSaysSo) {
    target.drop(3);
    target.image = "two\nlines<script>";
    const json shown = view();
    EXPECT_EQ(shown["complaint"], "8.6 % missing, dropped 3");
    EXPECT_THAT(shown["headline"].get<std::string>(), testing::HasSubstr("two\\x0alines<script>"));
}

TEST(HtmlView, TheTargetsProfileHasFramesToo) {
    test::LineProfile profile;
    profile.read(read_whole_file(NOPSCOPE_GOLDEN "/profile.bin"));
    const Report report = or_throw(make_report(profile, profile.counters(), nullptr));
    const json shown = json::parse(view_json(report, profile, "title"));
    std::uint64_t calls = 0;
    for (const ProfileRow& row : report.profile) {
        calls += row.calls;
        EXPECT_EQ(named(shown, row.name)["calls"], row.calls);
        EXPECT_EQ(binned(named(shown, row.name)), row.calls) << row.name;
    }
    EXPECT_GT(calls, 0u);
    EXPECT_EQ(sum(shown["paths"]["calls"]), calls);
}

TEST(HtmlPage, DataCannotEndItsElement) {
    const std::string page = html_page("<a><!--data--></a>", R"({"n":"</script><!--"})");
    EXPECT_EQ(page, R"(<a>{"n":"\u003c/script>\u003c!--"}</a>)");
    EXPECT_THROW(html_page("<a></a>", "{}"), Error);
}

TEST(HtmlPage, TheOneThatIsBuiltInIsWhole) {
    const std::string_view page = page_template();
    EXPECT_TRUE(page.starts_with("<!doctype html>"));
    EXPECT_TRUE(page.ends_with("</html>\n"));
    EXPECT_NE(page.find("<!--data-->"), std::string_view::npos);
    EXPECT_NE(page.find("d3-flame-graph\n\n"), std::string_view::npos) << "its licence";
    EXPECT_EQ(page.find("src=\"http"), std::string_view::npos);
}

}  // namespace nopscope::host::test::html_test
