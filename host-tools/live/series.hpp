// SPDX-License-Identifier: Apache-2.0
// The files of `record --rotate`: run.nsc names the series run.000001.nsc, run.000002.nsc, and so
// on. The first number is one more than the highest in the directory, so no recorder replaces a
// file.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace nopscope::host {

struct Rotation {
    std::chrono::duration<double> time{0};  // 0: no limit
    std::uint64_t bytes = 0;                // of one file; 0: no limit
    std::uint64_t keep = 0;                 // number of files to keep, with the newest; 0: all
};

// A time of at least a second ("90s", "30m", "1h", "7d"), or a size of at least 10 kB as
// read_size() reads it ("500MB", "1GB"). Nothing: `text` is neither.
std::optional<Rotation> read_rotation(const std::string& text);

class Series {
public:
    // Throws Error if another process writes the series.
    Series(const std::string& path, const Rotation& rotation);

    // The name for the next part. No file has this name.
    std::string next_name() const;
    // `age` and `bytes` are those of the part that is being written.
    bool is_due(std::chrono::duration<double> age, std::uint64_t bytes) const;
    // Removes the oldest recordings of the series beyond Rotation::keep. Does not touch files with
    // other names, and files with such a name that are not recordings.
    void remove_oldest() const;

private:
    // The number in a part's name, or nothing.
    std::optional<std::uint64_t> number_of(const std::string& name) const;
    std::vector<std::uint64_t> numbers() const;  // of the existing files, ascending
    std::string name_of(std::uint64_t number) const;

    std::filesystem::path directory_;
    std::string stem_;
    std::string extension_;
    Rotation rotation_;
};

}  // namespace nopscope::host
