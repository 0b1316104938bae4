// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "host-tools/elf/symbols.hpp"
#include "host-tools/nsc/format.hpp"

namespace nopscope::nsc {

// Writes a recording. Each chunk is one write(2), so what is written survives this process. What the disk
// does not take ends it: nothing is written any more, and check() throws.
class Writer {
public:
    // "-" is not special. An existing file is replaced.
    Writer(const std::string& path, const About& about);  // throws Error, too
    ~Writer();
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;

    // These, too, throw what check() does.
    void symbols(const Symbols& symbols);
    void end(const End& end);

    void chunk(Type type, std::span<const std::uint8_t> payload);
    // Throws Error: something could not be written.
    void check() const;
    std::uint64_t bytes() const { return bytes_; }  // of the file, so far

private:
    void put(std::span<const std::uint8_t> bytes);

    std::string path_;
    int file_ = -1;
    std::uint64_t bytes_ = 0;
    std::string failure_;  // a sentence; empty: there was none
};

}  // namespace nopscope::nsc
