// SPDX-License-Identifier: Apache-2.0
// Requests with several steps, and each status that each step can return.
#include "tracer/core/steps.hpp"

#include <gtest/gtest.h>

namespace nopscope {
namespace {

constexpr Status every_status[] = {Status::ok,
                                   Status::mmu_or_cache_off,
                                   Status::no_sites,
                                   Status::already_initialised,
                                   Status::not_initialised,
                                   Status::unknown_function,
                                   Status::no_names,
                                   Status::unexpected_text,
                                   Status::out_of_reach,
                                   Status::too_many,
                                   Status::conflict,
                                   Status::timeout,
                                   Status::no_profile_memory,
                                   Status::bad_config,
                                   Status::wrong_level,
                                   Status::wrong_memory,
                                   Status::text_not_writable,
                                   Status::cores_running,
                                   Status::events_refused};

TEST(Steps, AfterATimeoutTheNextIsTakenAndAfterARefusalIsNot) {
    static_assert(std::size(every_status) == static_cast<std::size_t>(Status::events_refused) + 1);
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
