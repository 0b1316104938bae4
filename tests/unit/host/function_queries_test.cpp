// SPDX-License-Identifier: Apache-2.0
#include "host-tools/figures/function_queries/function_queries.hpp"
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::function_queries_test {

class Questions : public test::PlayedReport {
protected:
    Questions() { target.hello(); }
    // Function n begins at n * 8 behind the text's base, and is named after its address.
    static std::string name(unsigned n) {
        return fmt::format("{:#x}", TargetStream::text_base + n * 8);
    }
    void ask(const std::string& records) {
        play(records);
        profile.count_durations();
        report(nullptr, true);
    }
    std::uint32_t number(unsigned n) { return or_throw(functions_named(made, name(n))).at(0); }
    // "caller calls total" of those of function n.
    std::vector<std::string> texts(Neighbours (*by_function)(const Report&, const Profile&),
                                   unsigned n) {
        std::vector<std::string> list;
        const Neighbours all = by_function(made, profile);
        for (const Neighbour& one : all[number(n)]) {
            list.push_back(
                fmt::format("{} {} {}", neighbour_name(made, one), one.calls, one.total_ns));
        }
        return list;
    }
    std::vector<std::string> callers(unsigned n) { return texts(callers_by_function, n); }
    std::vector<std::string> callees(unsigned n) { return texts(callees_by_function, n); }
};

TEST_F(Questions, CallersAndCalleesAreTheCallsBetweenThem) {
    for (int n = 0; n < 3; ++n) play("1( 2( 7:) 3( 2( 40:) 0:) )");
    ask("2( 1:)");
    EXPECT_THAT(callers(2), ElementsAre(name(3) + " 3 120", name(1) + " 3 21",
                                        "(nothing that was recorded) 1 1"));
    EXPECT_THAT(callees(1), ElementsAre(name(3) + " 3 150", name(2) + " 3 21"));
    EXPECT_THAT(callees(2), ElementsAre());
}

TEST_F(Questions, ARecursiveFunctionIsItsOwnCaller) {
    ask("1( 5:1( 7:) 5:)");
    EXPECT_THAT(callers(1), ElementsAre("(nothing that was recorded) 1 17", name(1) + " 1 7"));
}

TEST_F(Questions, CallersThatAGapHidesAreSaidToBe) {
    ask("1( | 1. x 2( 7:)");
    EXPECT_THAT(callers(2), ElementsAre("(callers lost in a gap) 1 7"));
    EXPECT_EQ(deepest(profile).unknown, 1u);
}

TEST_F(Questions, LatencyCountsTheCallsThatWereSeenWhole) {
    for (int n = 0; n < 990; ++n) play("1( 100:)");
    for (int n = 0; n < 10; ++n) play("1( 5000:)");
    ask("1(");  // open at the end
    const Latency latency = latency_of(made, profile, number(1));
    EXPECT_EQ(std::tuple(latency.timed, latency.min_ns, latency.max_ns),
              std::tuple(1000u, 100u, 5000u));
    const auto &first = latency.bins.front(), &last = latency.bins.back();
    EXPECT_EQ(std::tuple(first.from_ns, first.calls, last.calls), std::tuple(96u, 990u, 10u));
    EXPECT_EQ(latency.per_mille_ns(500), 112u);  // the end of the bin that begins at 96
    EXPECT_EQ(latency.per_mille_ns(990), 112u);
    EXPECT_EQ(latency.per_mille_ns(991), 5000u);
}

TEST_F(Questions, TheDeepestPathIsFound) {
    ask("9( 1:) 1( 2( 3. 1:) 1:) 1( 2( 3. 1:) 1:)");
    const StackDepth found = deepest(profile);
    EXPECT_THAT(found.path, ElementsAre(number(1), number(2), number(3)));
    EXPECT_EQ(found.calls, 2u);
    EXPECT_EQ(found.unknown, 0u);
}

TEST_F(Questions, AGlobNamesSeveralAndAWrongNameTheNearest) {
    ask("1. 2.");
    EXPECT_EQ(or_throw(functions_named(made, "0x*")).size(), 2u);
    const Error error = test::error_of([&] { or_throw(functions_named(made, "0x40080009")); });
    EXPECT_THAT(error.what(), HasSubstr("did you mean 0x40080008 or"));
    EXPECT_EQ(error.code(), Exit::usage);
}

}  // namespace nopscope::host::test::function_queries_test
