// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "host-tools/base/new_file.hpp"
#include "host-tools/image/symbols.hpp"
#include "host-tools/recording/format.hpp"

namespace nopscope::host::nsc {

// A chunk of symbols as it is in the file. Throws Error: they are too many.
std::vector<std::uint8_t> symbols_chunk(const Symbols& symbols);

// Writes a recording. Each chunk is one write(2), so written data survives this process. After a
// failed write the writer writes nothing more, and check() throws. The first session moves the file
// to its place (NewFile), so a recording without a session replaces no other.
class Writer {
public:
    // A path "-" is a file of that name. Throws Error.
    Writer(const std::string& path, const About& about,
           NewFile::Place place = NewFile::Place::at_once);
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;

    // These two throw Error as check() does.
    void symbols(const Symbols& symbols);
    void end(const End& end);

    // The chunk that end() would write now. With it, the bytes so far are a whole recording.
    static std::vector<std::uint8_t> end_chunk(const End& end);

    void chunk(Type type, std::span<const std::uint8_t> payload);
    // Throws Error if a write has failed.
    void check() const;
    std::uint64_t bytes() const { return bytes_; }  // of the file so far
    const NewFile& file() const { return file_; }

private:
    void put(std::span<const std::uint8_t> bytes);
    void attempt(const std::function<void()>& act);

    NewFile file_;
    std::uint64_t bytes_ = 0;
    std::string failure_;  // a sentence; empty: no write failed
};

}  // namespace nopscope::host::nsc
