// SPDX-License-Identifier: Apache-2.0
// `record` from a target's memory: makes the line that the target would have sent.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "host-tools/line/transport/source.hpp"

namespace nopscope::host {

struct MemoryOptions {
    std::optional<std::uint64_t> base;  // of file:, whose contents then are memory
    bool resume = false;  // gdb: lets the target run afterwards, whether it ran before or not
};

// True for gdb:, and for file: that is a core dump or has a base. Throws Error if options misfit.
bool is_memory(const std::string& uri, const MemoryOptions& options);
// Opens such a line. `image`: the ELF that runs there. `say` takes a sentence about the target's
// state afterwards. Throws Error.
std::unique_ptr<Source> open_memory_source(const std::string& uri, const std::string& image,
                                           const MemoryOptions& options,
                                           const std::function<void(const std::string&)>& say);

}  // namespace nopscope::host
