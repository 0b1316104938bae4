// SPDX-License-Identifier: Apache-2.0
// Requests with several steps, and each status that each step can return.
#include "tracer/core/steps.hpp"

#include <gtest/gtest.h>

#include <array>

namespace nopscope {
namespace {

constexpr auto every_status = [] {
    std::array<Status, static_cast<std::size_t>(Status::events_refused) + 1> all{};
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Status>(i);
    return all;
}();

TEST(Steps, AfterATimeoutTheNextIsTakenAndAfterARefusalIsNot) {
    for (const Status first : every_status) {
        for (const Status second : every_status) {
            unsigned taken = 0;
            Steps steps;
            steps.then([&] { return ++taken, first; }).then([&] { return ++taken, second; });
            const bool goes_on = first == Status::ok || first == Status::timeout;
            const bool refused = goes_on && second != Status::ok && second != Status::timeout;
            const bool late = first == Status::timeout || second == Status::timeout;
            EXPECT_EQ(taken, goes_on ? 2u : 1u);
            EXPECT_EQ(steps.partly(), refused);
            EXPECT_EQ(steps.status(), !goes_on  ? first
                                      : refused ? second
                                      : late    ? Status::timeout
                                                : Status::ok);
        }
    }
}

TEST(Steps, NoneAreOkAndOneIsWhatItSays) {
    EXPECT_EQ(Steps().status(), Status::ok);
    for (const Status one : every_status) {
        Steps steps;
        steps.then([&] { return one; });
        EXPECT_EQ(steps.status(), one);
        EXPECT_FALSE(steps.partly());
    }
}

}  // namespace
}  // namespace nopscope
