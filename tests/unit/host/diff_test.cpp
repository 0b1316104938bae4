// SPDX-License-Identifier: Apache-2.0
#include "host-tools/figures/diff/diff.hpp"

#include <gtest/gtest.h>

namespace {

using nopscope::host::welch;

TEST(Diff, WelchGivesTheFiguresOfRsManual) {
    const std::vector<double> x = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    std::vector<double> y = {7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20};
    EXPECT_NEAR(welch(x, y), 1.855e-05, 1e-8);
    y.push_back(200);
    EXPECT_NEAR(welch(x, y), 0.1245, 1e-4);
    EXPECT_NEAR(welch({0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0},
                      {1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4}),
                0.07939, 1e-5);
}

TEST(Diff, WelchOfTwoRunsIsThatOfCauchysDistribution) {
    // t = 2, one degree of freedom
    EXPECT_NEAR(welch({3, 3}, {0, 2}), 0.2951672353008666, 1e-12);
    EXPECT_NEAR(welch({1e200, 1e200}, {0, 2}), 0, 1e-12);
    EXPECT_EQ(welch({1, 1}, {1, 1}), 1);
}

}  // namespace
