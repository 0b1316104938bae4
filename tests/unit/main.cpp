// SPDX-License-Identifier: Apache-2.0
// Runs a program's unit tests. ctest runs each test as a process, several at a time. So each
// process has its own directory for files that it writes: testing::TempDir() names it.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    std::string directory = testing::TempDir() + "nopscope-unit-XXXXXX";
    if (mkdtemp(directory.data()) == nullptr) {
        std::perror(directory.c_str());
        return 1;
    }
    setenv("TEST_TMPDIR", (directory + "/").c_str(), 1);
    const int status = RUN_ALL_TESTS();
    std::error_code left_alone;
    std::filesystem::remove_all(directory, left_alone);
    return status;
}
