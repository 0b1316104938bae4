// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "host-tools/base/result.hpp"
#include "host-tools/recording/reader.hpp"

namespace nopscope::host::nsc {

// The bytes so far, and the file's size (0: it has none).
using ReadSoFar = std::function<void(std::uint64_t bytes, std::uint64_t total)>;

// Has `reader` read the file at `path`, or standard input for "-". Error: it cannot be read. Calls
// `read_so_far` after each piece.
Result<void> read_file(Reader& reader, const std::string& path, SessionSink& sink,
                       const ReadSoFar& read_so_far = {});

}  // namespace nopscope::host::nsc
