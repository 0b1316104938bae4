// SPDX-License-Identifier: Apache-2.0
// The libraries and the short names that the tests and their helpers have in common.
#pragma once

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <clocale>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <regex>
#include <set>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/unit/host/target_stream.hpp"
#include "tracer/protocol/command.hpp"
#include "tracer/protocol/profile.hpp"

namespace nopscope::host::test {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using nlohmann::json;
using protocol::Command, protocol::Extended, protocol::Kind, protocol::StampedRecord;
using protocol::ObjectName, protocol::ProfileEntry, protocol::Stream, protocol::TaskFact;
using protocol::TaskFacts;
using ::testing::AllOf, ::testing::Contains, ::testing::ContainsRegex, ::testing::ElementsAre;
using ::testing::EndsWith, ::testing::HasSubstr, ::testing::IsEmpty, ::testing::IsSupersetOf;
using ::testing::Not, ::testing::StartsWith;

}  // namespace nopscope::host::test
