// SPDX-License-Identifier: Apache-2.0
// The memory of a stopped target: behind a debugger's stub, or in a file.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "host-tools/line/transport/source.hpp"

namespace nopscope::host {

class TargetMemory {
public:
    virtual ~TargetMemory() = default;
    TargetMemory() = default;
    TargetMemory(const TargetMemory&) = delete;
    TargetMemory& operator=(const TargetMemory&) = delete;

    // Reads all of [address, address + to.size()). Throws Error if a part cannot be read.
    virtual void read(std::uint64_t address, std::span<std::uint8_t> to) = 0;
    // Ends the reading. Returns a sentence about the target's state afterwards, or an empty text.
    virtual std::string release() { return {}; }
};

// Opens a stub of the GDB remote serial protocol (the GDB manual's appendix E). The target is
// stopped while its memory is read. `place`: HOST:PORT or unix:PATH. release() lets the target run
// if the stub says that it ran before, or if `resume`. Throws Error.
std::unique_ptr<TargetMemory> open_gdb(const std::string& place, bool resume);
// The same on an open connection. `patience`: the time to wait for an answer.
std::unique_ptr<TargetMemory> open_gdb(
    std::unique_ptr<Source> connection, const std::string& name, bool resume,
    std::chrono::milliseconds patience = std::chrono::seconds(5));

// Opens an image of memory whose first byte is at `base`, or an ELF core dump. Throws Error.
std::unique_ptr<TargetMemory> open_memory_file(const std::string& path,
                                               std::optional<std::uint64_t> base);
// True if `path` is a file, and an ELF core dump.
bool is_core_dump(const std::string& path);

}  // namespace nopscope::host
