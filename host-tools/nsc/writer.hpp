// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

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
    void chunk(Type type, std::span<const std::uint8_t> payload);
    void end(const End& end);

private:
    void put(std::span<const std::uint8_t> bytes);

    std::string path_;
    int file_ = -1;
};

}  // namespace nopscope::nsc
