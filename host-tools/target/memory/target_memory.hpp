// SPDX-License-Identifier: Apache-2.0
// The memory of a target that does not run: behind a debugger's stub, or in a file.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "host-tools/target/transport/source.hpp"

namespace nopscope::host {

class TargetMemory {
public:
    virtual ~TargetMemory() = default;
    TargetMemory() = default;
    TargetMemory(const TargetMemory&) = delete;
    TargetMemory& operator=(const TargetMemory&) = delete;

    // All of [address, address + to.size()). Throws Error: not all of it can be read.
    virtual void read(std::uint64_t address, std::span<std::uint8_t> to) = 0;
    // Nothing more is read. What became of the target, as a sentence; empty: there is none.
    virtual std::string let_go() { return {}; }
};

// A stub of the GDB remote serial protocol (the GDB manual's appendix E), which is stopped while its
// memory is read. `place`: HOST:PORT or unix:PATH. let_go() lets a target run on if the stub says that it ran
// before, or if `resume`. Throws Error.
std::unique_ptr<TargetMemory> open_gdb(const std::string& place, bool resume);
// The same on a connection that is there; `patience`: for an answer.
std::unique_ptr<TargetMemory> open_gdb(std::unique_ptr<Source> connection, const std::string& name,
                                       bool resume,
                                       std::chrono::milliseconds patience = std::chrono::seconds(5));

// An image of memory, its first byte at `base`; without a base an ELF core dump. Throws Error.
std::unique_ptr<TargetMemory> open_memory_file(const std::string& path,
                                               std::optional<std::uint64_t> base);
// Whether `path` is a file, and an ELF core dump.
bool is_core_dump(const std::string& path);

}  // namespace nopscope::host
