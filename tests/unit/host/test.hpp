// SPDX-License-Identifier: Apache-2.0
// What the host's tests share. A test file includes this and what else of the product it tests. Its
// names are in a namespace of its own, since several files are compiled as one (CMakeLists.txt).
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
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

#include "host-tools/analysis/events/balanced_stream.hpp"
#include "host-tools/analysis/events/call_sink.hpp"
#include "host-tools/analysis/part/part_stream.hpp"
#include "host-tools/analysis/part/selected_calls.hpp"
#include "host-tools/analysis/profile/profile.hpp"
#include "host-tools/analysis/report/json.hpp"
#include "host-tools/analysis/report/report.hpp"
#include "host-tools/analysis/report/tree.hpp"
#include "host-tools/base/error.hpp"
#include "host-tools/base/file.hpp"
#include "host-tools/base/text.hpp"
#include "host-tools/image/arch/pmu_events.hpp"
#include "host-tools/image/names.hpp"
#include "host-tools/image/symbols.hpp"
#include "host-tools/live/line.hpp"
#include "host-tools/live/rates.hpp"
#include "host-tools/recording/journal.hpp"
#include "host-tools/recording/reader.hpp"
#include "host-tools/target/stream/moves_in_order.hpp"
#include "host-tools/target/stream/session.hpp"
#include "host-tools/views/export/formats.hpp"
#include "host-tools/views/page/html.hpp"
#include "tests/unit/host/balanced_checker.hpp"
#include "tests/unit/host/codec_records.hpp"
#include "tests/unit/host/elf_builder.hpp"
#include "tests/unit/host/error_of.hpp"
#include "tests/unit/host/hello_2.hpp"
#include "tests/unit/host/played_report.hpp"
#include "tests/unit/host/random_tasks.hpp"
#include "tests/unit/host/random_trace.hpp"
#include "tests/unit/host/session_fixture.hpp"
#include "tests/unit/host/tasks_fixture.hpp"
#include "tests/unit/host/test_files.hpp"
#include "tests/unit/host/told.hpp"
#include "tests/unit/host/uart.hpp"
#include "tests/unit/host/wire.hpp"
#include "tracer/protocol/hello.hpp"
#include "tracer/protocol/profile.hpp"
#include "tracer/protocol/profile_events.hpp"

namespace nopscope::host::test {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using nlohmann::json;
using protocol::Command, protocol::Extended, protocol::Kind, protocol::StampedRecord;
using protocol::ObjectName, protocol::TaskFact, protocol::TaskFacts;
using ::testing::AllOf, ::testing::Contains, ::testing::ElementsAre, ::testing::HasSubstr;
using ::testing::IsEmpty, ::testing::IsSupersetOf, ::testing::Not, ::testing::StartsWith;

}  // namespace nopscope::host::test
