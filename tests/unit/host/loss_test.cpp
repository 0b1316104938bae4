// SPDX-License-Identifier: Apache-2.0
// A report with losses says how much is missing, which times are doubtful, and what helps.
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::loss_test {

class LossTest : public test::StreamReport {
protected:
    void call(std::uint32_t site) { target.ret(target.entry(site, 100), 100); }
    bool doubtful(std::uint32_t site) const { return is_doubtful(row(made, site)); }
};

TEST_F(LossTest, FunctionsThatWereOpenWhileRecordsWereDroppedAreMarked) {
    target.hello();
    play("1( 100:3( 100:)");
    target.clock += 10;
    target.stats(false);
    play("2(");
    target.drop(50);
    play("100:4( 100:) )");  // f4 may have called dropped functions
    target.stats(false);
    target.clock += 10;
    play("100:5( 100:) )");
    report();
    for (const std::uint32_t open : {1u, 2u, 4u}) {
        EXPECT_EQ(row(made, open).dropped, 50u) << open;
        EXPECT_TRUE(doubtful(open)) << open;
    }
    for (const std::uint32_t closed : {3u, 5u}) EXPECT_FALSE(doubtful(closed)) << closed;
}

TEST_F(LossTest, DropsOfAnotherCoreMakeNoCallDoubtful) {
    target.cores = 2;
    target.hello();
    const auto one = target.entry(1, 10, 0);
    const auto two = target.entry(2, 10, 1);
    target.drop(7, 1);
    target.ret(one, 10, 0);
    target.ret(two, 10, 1);
    report();
    EXPECT_FALSE(doubtful(1));
    EXPECT_TRUE(doubtful(2));
}

TEST_F(LossTest, TheLastSessionsCallsAreNotOpenInThisOne) {
    target.hello();
    call(1);
    target.stats(true);
    target.reset();
    target.clock = 1;
    target.hello();
    target.drop(3);
    call(2);
    report();
    EXPECT_FALSE(doubtful(1));
    EXPECT_TRUE(doubtful(2));
}

// Stream mode drops most records, and one function has nearly all of the time.
TEST_F(LossTest, TheSecondLineSaysHowMuchIsMissingAndWhatHelps) {
    target.hello();
    const auto all = target.entry(1);
    for (int i = 0; i < 4; ++i) call(2);
    target.drop(90);
    target.ret(all, 100'000);
    Report result = report();
    const std::string text = text_report(result);
    const std::string behind = text.substr(text.find('\n') + 1);
    const std::string second = behind.substr(0, behind.find('\n'));
    EXPECT_THAT(second, StartsWith("missing: 90.0 % of 100 records (90 dropped by the target); "
                                   "self times marked ~"));
    for (const char* option :
         {"--mode adaptive", "--trace", "--recorder profile", "--mode lossless"})
        EXPECT_THAT(second, HasSubstr(option));
    EXPECT_THAT(text, HasSubstr("~10"));  // 100 us
    const auto json = nlohmann::json::parse(json_report(result));
    EXPECT_EQ(json["loss"]["records"], 100);
    EXPECT_EQ(json["loss"]["dropped"], 90);
    EXPECT_NEAR(json["loss"]["share"].get<double>(), 0.9, 1e-9);
    EXPECT_EQ(json["functions"][0]["doubtful"], true);
    result.lossless = true;
    EXPECT_THAT(loss_line(result), Not(HasSubstr("lossless")));
}

TEST_F(LossTest, ACompleteRecordingSaysNothingOfIt) {
    target.hello();
    call(1);
    const Report result = report();
    EXPECT_EQ(loss_line(result), "");
    EXPECT_THAT(text_report(result), Not(HasSubstr("missing")));
    EXPECT_FALSE(is_doubtful(row(result, 1)));
}

}  // namespace nopscope::host::test::loss_test
