// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace nopscope::host {

// All of a small file. Throws Error: it cannot be read, or has more than 256 MB (which a device without an end has).
std::vector<std::uint8_t> read_whole_file(const std::string& path);

// A regular file of which parts are read.
class FileParts {
public:
    // Throws Error: there is none, or it is a directory, a device or a pipe.
    explicit FileParts(const std::string& path);
    ~FileParts();
    FileParts(const FileParts&) = delete;
    FileParts& operator=(const FileParts&) = delete;

    const std::string& path() const { return path_; }
    std::uint64_t bytes() const { return bytes_; }
    // All of `to`. False: the file ends before. Throws Error: the system cannot read it.
    bool read(std::uint64_t offset, std::span<std::uint8_t> to) const;

private:
    std::string path_;
    int descriptor_;
    std::uint64_t bytes_ = 0;
};

// The sentence's end for a failed system call: "No such file or directory".
std::string system_error(int number);

}  // namespace nopscope::host
