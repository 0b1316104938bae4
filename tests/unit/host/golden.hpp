// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "host-tools/base/file.hpp"

namespace nopscope::host::test {

// Compares `found` with the file in tests/conformance. UPDATE_GOLDEN=1 updates the file.
inline void expect_golden(const std::string& name, const std::string& found) {
    const std::string path = std::string(NOPSCOPE_GOLDEN) + "/" + name;
    if (std::getenv("UPDATE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << found;
    const auto bytes = read_whole_file(path);
    EXPECT_EQ(found, std::string(bytes.begin(), bytes.end())) << path;
}

}  // namespace nopscope::host::test
