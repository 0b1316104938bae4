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
    std::uint64_t bytes = 0;                // of a file; 0: no limit
    std::uint64_t keep = 0;                 // files of the series, the newest among them; 0: all
};

// "90s", "30m", "1h", "7d": a time from a second on; "500MB", "1GB", as read_size() takes it: a size
// from 10 kB on. Nothing: it is neither.
std::optional<Rotation> read_rotation(const std::string& text);

class Series {
public:
    // Throws Error: another process writes the series.
    Series(const std::string& path, const Rotation& rotation);

    // The name for the next part: no file has it.
    std::string next_name() const;
    // `age` and `bytes`: of the part that is written.
    bool is_due(std::chrono::duration<double> age, std::uint64_t bytes) const;
    // Removes the oldest recordings of the series beyond Rotation::keep. Files of other names stay,
    // and files of such a name that are no recordings.
    void remove_oldest() const;

private:
    // The number of a part's name, or nothing.
    std::optional<std::uint64_t> number_of(const std::string& name) const;
    std::vector<std::uint64_t> numbers() const;  // of the files there, ascending
    std::string name_of(std::uint64_t number) const;

    std::filesystem::path directory_;
    std::string stem_;
    std::string extension_;
    Rotation rotation_;
};

}  // namespace nopscope::host
