// SPDX-License-Identifier: Apache-2.0
#include "host-tools/cli/version.hpp"

#include <fmt/format.h>

#include "commit.hpp"
#include "host-tools/base/version.hpp"
#include "host-tools/line/stream/hello_reader.hpp"
#include "host-tools/recording/format.hpp"

namespace nopscope::host {

std::string version_lines() {
    const std::string build_type = NOPSCOPE_BUILD_TYPE;
    return fmt::format(
        "nopscope {}\n"
        "line: reads formats {}, {} and {}\n"
        "recording: writes format {}, reads format {}\n"
        "build: {}, {}, commit {}",
        version_text, oldest_format_version, protocol::format_version,
        protocol::last_format_version, nsc::version, nsc::version, NOPSCOPE_COMPILER,
        build_type.empty() ? "no build type" : build_type, nopscope_commit);
}

}  // namespace nopscope::host
