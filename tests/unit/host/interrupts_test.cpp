// SPDX-License-Identifier: Apache-2.0
// Interrupts that the firmware reports: calls of the interrupted function, with a masked time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tests/unit/host/report_fixture.hpp"

namespace nopscope::host {
namespace {

using test::TargetStream;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class Interrupts : public test::StreamReport {
protected:
    Interrupts() { target.hello(); }
    std::uint64_t begin(std::uint32_t number, std::uint64_t ticks = 10) {
        return target.argument(protocol::Extended::interrupt, number, ticks);
    }
    // "name calls total self", by site number.
    std::vector<std::string> rows() {
        std::vector<std::string> list;
        for (const FunctionRow& row : report().functions) {
            const std::string name =
                row.interrupt ? row.name
                              : fmt::format("f{}", (row.address - TargetStream::text_base) / 8);
            list.push_back(fmt::format("{} {} {} {}", name, row.calls, row.total_ns, row.self_ns));
        }
        return list;
    }
};

TEST_F(Interrupts, TheirTimeIsNotTheInterruptedFunctionsOwn) {
    const auto one = target.entry(1);
    const auto interrupt = begin(27, 5);
    target.ret(target.entry(2, 20), 30);
    target.ret(interrupt, 50);
    target.ret(one, 7);
    EXPECT_THAT(rows(), ElementsAre("f1 1 112 12", "(interrupt 27) 1 100 70", "f2 1 30 30"));
}

TEST_F(Interrupts, NestAndAreApartByNumber) {
    const auto outer = begin(1);
    target.ret(begin(2), 100);
    target.ret(begin(2), 200);
    target.ret(outer, 10);
    EXPECT_THAT(rows(), ElementsAre("(interrupt 1) 1 330 30", "(interrupt 2) 2 300 300"));
}

// Interrupts 27 and 0 beside the functions whose sites have the offsets 8 * 27 and 0.
TEST_F(Interrupts, AreNotTheFunctionOfTheSameOffset) {
    target.ret(target.entry(27), 5);
    target.ret(begin(27), 100);
    target.ret(begin(0), 1000);
    target.ret(target.entry(0), 7);
    EXPECT_THAT(rows(), ElementsAre("f27 1 5 5", "(interrupt 27) 1 100 100",
                                    "(interrupt 0) 1 1000 1000", "f0 1 7 7"));
}

TEST_F(Interrupts, OneWhoseEndIsMissingEndsWithItsCaller) {
    const auto one = target.entry(1);
    begin(27, 5);
    target.ret(one, 50);
    target.ret(target.entry(2), 3);
    EXPECT_THAT(rows(), ElementsAre("f1 1 55 5", "(interrupt 27) 1 50 50", "f2 1 3 3"));
    EXPECT_EQ(made.functions[1].unwound, 1u);
}

TEST_F(Interrupts, NothingIsTakenOffThem) {
    target.calibrated = true;
    target.overheads[protocol::overhead_index(protocol::Recorder::graph)] = {
        3 * protocol::overhead_unit, 2 * protocol::overhead_unit};
    target.bytes.clear();
    target.hello();
    const auto interrupt = begin(27);
    target.ret(target.entry(2), 30);
    target.ret(interrupt, 50);
    const Report& report = this->report();
    ASSERT_EQ(report.functions.size(), 2u);
    EXPECT_EQ(report.functions[0].corrected_self_ns, 60u - 2u);
    EXPECT_EQ(report.functions[0].corrected_total_ns, 90u - 5u);
}

TEST_F(Interrupts, TheEventsOfTheirCallsAreNotTheInterruptedFunctionsOwn) {
    const auto one = target.entry(1);
    const auto interrupt = begin(27);
    target.ret(target.entry(2));
    target.with_data(protocol::Extended::events, protocol::events_argument(0x11), {70});
    target.ret(interrupt);
    target.ret(one);
    target.with_data(protocol::Extended::events, protocol::events_argument(0x11), {100});
    const Report& report = this->report();
    ASSERT_EQ(report.events.rows.size(), 2u);
    EXPECT_EQ(report.events.rows[0].cells[0].total, 100u);
    EXPECT_EQ(report.events.rows[0].cells[0].self, 30u);
}

TEST_F(Interrupts, AreAPartOfJsonByThemselves) {
    target.ret(target.entry(1));
    target.ret(begin(27), 40);
    target.with_data(protocol::Extended::masked, 0, {3, 25});
    const auto json = nlohmann::json::parse(json_report(report()));
    ASSERT_EQ(json["functions"].size(), 1u);
    ASSERT_EQ(json["interrupts"].size(), 1u);
    EXPECT_EQ(json["interrupts"][0]["interrupt"], 27);
    EXPECT_EQ(json["interrupts"][0]["total_ns"], 40);
    ASSERT_EQ(json["masked"].size(), 1u);
    EXPECT_EQ(json["masked"][0]["length_ns"], 25);
    EXPECT_EQ(json["masked"][0]["at_ns"], 70);
    EXPECT_EQ(json["masked"][0]["address"], fmt::format("{:#x}", TargetStream::text_base + 12));
}

TEST_F(Interrupts, NoneAreNotMentioned) {
    target.ret(target.entry(1));
    EXPECT_THAT(json_report(report()), Not(HasSubstr("interrupt")));
    EXPECT_THAT(made.masked, IsEmpty());
}

}  // namespace
}  // namespace nopscope::host
