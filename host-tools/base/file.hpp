// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nopscope::host {

// A regular file for random reads.
class FileParts {
public:
    // Throws Error if the file does not exist, or is a directory, a device or a pipe.
    explicit FileParts(const std::string& path);
    ~FileParts();
    FileParts(const FileParts&) = delete;
    FileParts& operator=(const FileParts&) = delete;

    const std::string& path() const { return path_; }
    std::uint64_t bytes() const { return bytes_; }
    // Fills all of `to`. Returns false if the file ends before. Throws Error if it cannot be read.
    bool read(std::uint64_t offset, std::span<std::uint8_t> to) const;

private:
    std::string path_;
    int descriptor_;
    std::uint64_t bytes_ = 0;
};

// Throws Error, as FileParts does.
std::vector<std::uint8_t> read_whole_file(const std::string& path);

// True if `path` is a regular file with these first bytes. Does not open a pipe, which can be read
// only once.
bool begins_with(const std::string& path, std::string_view magic);

}  // namespace nopscope::host
