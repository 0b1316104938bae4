// SPDX-License-Identifier: Apache-2.0
// What reports and graphs show of samples.
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::samples_test {

class SamplesTest : public StreamReport {
protected:
    SamplesTest() {
        target.hello();
        symbols.sites = {function(0, 0x40, "loop"), function(0x80, 0x80, "work")};
        symbols.code = {function(0x100, 0x20, "memcpy")};
    }
    static Function function(std::uint64_t offset, std::uint64_t size, const char* name) {
        return {TargetStream::text_base + offset, size, name, "", 0};
    }
    // `offsets`: from the beginning of the text, innermost first.
    void sample(const std::vector<std::int64_t>& offsets, bool has_link = false, bool cut = false) {
        std::vector<std::uint64_t> data;
        for (const std::int64_t offset : offsets)
            data.push_back(protocol::sampled_address(static_cast<std::uint64_t>(offset), 4));
        const auto count = static_cast<unsigned>(offsets.size());
        target.with_data(Extended::sample, protocol::sample_argument(count, has_link, cut), data);
        target.clock += 100;
    }
    const Report& report() {
        StreamReport::report(&symbols);
        sort_rows(made.samples.functions, SortKey::self, 0);
        return made;
    }
    std::vector<std::string> rows() {
        std::vector<std::string> out;
        for (const SampleRow& row : report().samples.functions)
            out.push_back(fmt::format("{} {} {}", row.name, row.self, row.total));
        return out;
    }

    Symbols symbols = numbered_symbols(target, 0);
};

TEST_F(SamplesTest, AFunctionCountsOnceHoweverOftenItIsOpen) {
    sample({0x84, 0x20});
    sample({0x88, 0xc0, 0x24});  // work calls itself
    sample({0x10});
    EXPECT_THAT(rows(), ElementsAre("work 2 2", "loop 1 3"));
}

TEST_F(SamplesTest, CodeWithoutASiteHasItsNameAndTheUnknownItsAddress) {
    sample({0x104, 0xc0});
    sample({-0x400});
    const auto found = rows();
    ASSERT_EQ(found.size(), 3u);
    EXPECT_THAT(found, Contains("memcpy 1 1"));
    EXPECT_THAT(found, Contains(StartsWith("0x")));
}

TEST_F(SamplesTest, ACallAtTheVeryEndIsStillItsFunctions) {
    sample({0x104, 0x100});  // it returns behind work's last instruction, where memcpy begins
    EXPECT_THAT(rows(), ElementsAre("memcpy 1 1", "work 0 1"));
}

TEST_F(SamplesTest, AddressesAreInUnitsOfTheArchitecture) {
    target.bytes.clear();  // the hello of arm64
    target.architecture = protocol::Architecture::riscv64;
    target.hello();
    sample({0x208, 0x200});  // they count 4 bytes for each unit
    EXPECT_THAT(rows(), ElementsAre("memcpy 1 1", "work 0 1"));
}

TEST_F(SamplesTest, ALinkToTheFunctionItselfIsStale) {
    sample({0x90, 0x98, 0x20}, true);   // the link is from work's own last call
    sample({0x104, 0x98, 0x20}, true);  // memcpy has no frame: work called it
    const SampleReport& samples = report().samples;
    ASSERT_EQ(samples.nodes.size(), 4u);  // root, loop, work, memcpy
    EXPECT_EQ(samples.nodes[2].total, 2u);
    EXPECT_EQ(samples.nodes[2].self, 1u);
    EXPECT_EQ(samples.places[samples.nodes[3].function].name, "memcpy");
    EXPECT_EQ(samples.nodes[3].parent, 2u);
}

TEST_F(SamplesTest, TextAndJson) {
    for (int i = 0; i < 3; ++i) sample({0x84, 0x20});
    sample({0x10}, false, true);
    const std::string text = text_report(report());
    EXPECT_THAT(text, HasSubstr("4 samples, one every "));
    EXPECT_THAT(text, HasSubstr("of 1 the outermost callers are left out"));
    EXPECT_THAT(text, HasSubstr("3  75.0 %      3   75.0 %  work"));
    EXPECT_THAT(text_graph(made, profile, {}),
                HasSubstr("           4         1  100.0 %  loop\n           3"));
    EXPECT_THAT(text_graph(made, profile, {.depth = 1}), Not(HasSubstr("work")));
    EXPECT_THAT(text_graph(made, profile, {.min_share = 0.8}), Not(HasSubstr("work")));
    const json samples = json::parse(json_report(made))["samples"];
    EXPECT_EQ(samples["count"], 4);
    EXPECT_EQ(samples["functions"][0]["name"], "work");
    EXPECT_EQ(samples["functions"][0]["share"], 0.75);
    const json node = json::parse(json_graph(made, profile, {}))["samples"]["nodes"][1];
    EXPECT_EQ(std::tuple(node["parent"], node["total"]), std::tuple(0, 3));
}

TEST_F(SamplesTest, ASampleThatAGapCutsIsNotCounted) {
    target.with_data(Extended::sample, protocol::sample_argument(3, false, false), {4, 8});
    target.entry(1);
    EXPECT_EQ(report().samples.count, 0u);
}

}  // namespace nopscope::host::test::samples_test
