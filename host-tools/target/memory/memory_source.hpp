// SPDX-License-Identifier: Apache-2.0
// `record` from a target's memory: a line that was sent by nobody.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "host-tools/target/transport/source.hpp"

namespace nopscope::host {

struct MemoryOptions {
    std::optional<std::uint64_t> base;  // of file:, which then is memory
    bool resume = false;                // gdb: lets the target run on, whether it ran before or not
};

// gdb:..., and file: where it is a core dump or has a base. Throws Error: options that fit no such line.
bool is_memory(const std::string& uri, const MemoryOptions& options);
// Such a one. `image`: the ELF that runs there. `say`: what became of the target, for a person. Throws Error.
std::unique_ptr<Source> open_memory_source(const std::string& uri, const std::string& image,
                                           const MemoryOptions& options,
                                           const std::function<void(const std::string&)>& say);

}  // namespace nopscope::host
