// SPDX-License-Identifier: Apache-2.0
#include "host-tools/analysis/function_queries/function_queries.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/host/error_of.hpp"
#include "tests/unit/host/report_fixture.hpp"

namespace nopscope::host {
namespace {

using test::TargetStream;
using testing::ElementsAre;
using testing::HasSubstr;

class Questions : public test::StreamReport {
protected:
    // Function n begins at n * 8 behind the text's base, and is named after its address.
    static std::string name(unsigned n) {
        return fmt::format("{:#x}", TargetStream::text_base + n * 8);
    }
    void ask() {
        profile.count_durations();
        report(nullptr, true);
    }
    std::uint32_t number(unsigned n) { return or_throw(functions_named(made, name(n))).at(0); }
    // "caller calls total"
    std::vector<std::string> texts(const std::vector<Neighbour>& of) {
        std::vector<std::string> list;
        for (const Neighbour& one : of) {
            list.push_back(
                fmt::format("{} {} {}", neighbour_name(made, one), one.calls, one.total_ns));
        }
        return list;
    }
};

TEST_F(Questions, CallersAndCalleesAreTheCallsBetweenThem) {
    target.hello();
    for (int n = 0; n < 3; ++n) {
        const auto one = target.entry(1);
        target.ret(target.entry(2), 7);
        const auto three = target.entry(3);
        target.ret(target.entry(2), 40);
        target.ret(three, 0);
        target.ret(one, 10);
    }
    target.ret(target.entry(2), 1);
    ask();
    EXPECT_THAT(
        texts(callers_by_function(made, profile)[number(2)]),
        ElementsAre(name(3) + " 3 120", name(1) + " 3 21", "(nothing that was recorded) 1 1"));
    EXPECT_THAT(texts(callees_by_function(made, profile)[number(1)]),
                ElementsAre(name(3) + " 3 150", name(2) + " 3 21"));
    EXPECT_TRUE(callees_by_function(made, profile)[number(2)].empty());
}

TEST_F(Questions, ARecursiveFunctionIsItsOwnCaller) {
    target.hello();
    const auto outer = target.entry(1);
    target.ret(target.entry(1, 5), 7);
    target.ret(outer, 5);
    ask();
    EXPECT_THAT(texts(callers_by_function(made, profile)[number(1)]),
                ElementsAre("(nothing that was recorded) 1 17", name(1) + " 1 7"));
}

TEST_F(Questions, CallersThatAGapHidesAreSaidToBe) {
    target.hello();
    target.entry(1);
    target.flush();
    target.call(1);
    target.lose();
    target.ret(target.entry(2), 7);
    ask();
    EXPECT_THAT(texts(callers_by_function(made, profile)[number(2)]),
                ElementsAre("(callers lost in a gap) 1 7"));
    EXPECT_EQ(deepest(profile).unknown, 1u);
}

TEST_F(Questions, LatencyCountsTheCallsThatWereSeenWhole) {
    target.hello();
    for (int n = 0; n < 990; ++n) target.ret(target.entry(1), 100);
    for (int n = 0; n < 10; ++n) target.ret(target.entry(1), 5000);
    target.entry(1);  // open at the end
    ask();
    const Latency latency = latency_of(made, profile, number(1));
    EXPECT_EQ(latency.timed, 1000u);
    EXPECT_EQ(latency.min_ns, 100u);
    EXPECT_EQ(latency.max_ns, 5000u);
    EXPECT_EQ(latency.bins.front().from_ns, 96u);
    EXPECT_EQ(latency.bins.front().calls, 990u);
    EXPECT_EQ(latency.bins.back().calls, 10u);
    EXPECT_EQ(latency.per_mille_ns(500), 112u);  // the end of the bin that begins at 96
    EXPECT_EQ(latency.per_mille_ns(990), 112u);
    EXPECT_EQ(latency.per_mille_ns(991), 5000u);
}

TEST_F(Questions, TheDeepestPathIsFound) {
    target.hello();
    target.ret(target.entry(9), 1);
    for (int n = 0; n < 2; ++n) {
        const auto one = target.entry(1);
        const auto two = target.entry(2);
        target.call(3);
        target.ret(two, 1);
        target.ret(one, 1);
    }
    ask();
    const StackDepth found = deepest(profile);
    EXPECT_THAT(found.path, ElementsAre(number(1), number(2), number(3)));
    EXPECT_EQ(found.calls, 2u);
    EXPECT_EQ(found.unknown, 0u);
}

TEST_F(Questions, AGlobNamesSeveralAndAWrongNameTheNearest) {
    target.hello();
    target.call(1);
    target.call(2);
    ask();
    EXPECT_EQ(or_throw(functions_named(made, "0x*")).size(), 2u);
    const Error error = test::error_of([&] { or_throw(functions_named(made, "0x40080009")); });
    EXPECT_THAT(error.what(), HasSubstr("did you mean 0x40080008 or"));
    EXPECT_EQ(error.code(), Exit::usage);
}

}  // namespace
}  // namespace nopscope::host
