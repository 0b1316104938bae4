// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "host-tools/elf/symbols.hpp"
#include "host-tools/nsc/format.hpp"

namespace nopscope::nsc {

// Writes a recording. Each chunk is one write(2), so what is written survives this process. Throws
// Error when the disk does not take it.
class Writer {
public:
    // "-" is not special. An existing file is replaced.
    Writer(const std::string& path, const About& about);
    ~Writer();
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;

    void symbols(const Symbols& symbols);
    // Gathers; written when 64 KiB have come together, or by flush().
    void line(std::span<const std::uint8_t> bytes, std::uint64_t unix_ns);
    void flush();
    void end(End end);

private:
    void chunk(Type type, std::span<const std::uint8_t> payload);
    void put(std::span<const std::uint8_t> bytes);

    std::string path_;
    int file_ = -1;
    std::vector<std::uint8_t> pending_;  // of a LINE chunk, with its time
    std::uint64_t line_bytes_ = 0;
};

}  // namespace nopscope::nsc
