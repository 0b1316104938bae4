// SPDX-License-Identifier: Apache-2.0
// Bytes by track, for formats that have a file, or a part of one, for each track. For any number of
// tracks it needs one open file and 32 MB. A track gets a file only when it needs one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "host-tools/base/output.hpp"

namespace nopscope::host {

class TrackFiles {
public:
    // The name of a track's file.
    using Name = std::filesystem::path (*)(const std::filesystem::path& directory,
                                           std::uint32_t track);

    TrackFiles(std::filesystem::path directory, Name name)
        : directory_(std::move(directory)), name_(name) {}
    // Removes the files, unless keep() was called.
    ~TrackFiles();
    TrackFiles(const TrackFiles&) = delete;
    TrackFiles& operator=(const TrackFiles&) = delete;

    void add(std::uint32_t track) { parts_.resize(track + 1); }
    // Throws Error, as the functions below do.
    void write(std::uint32_t track, std::string_view bytes) {
        Part& part = parts_[track];
        part.buffer += bytes;
        part.bytes += bytes.size();
        buffered_ += bytes.size();
        if (part.buffer.size() >= most_of_a_track) {
            spill(track);
        } else if (buffered_ >= most_buffered) {
            spill();
        }
    }
    std::uint32_t tracks() const { return static_cast<std::uint32_t>(parts_.size()); }
    std::uint64_t bytes(std::uint32_t track) const { return parts_[track].bytes; }
    // Writes everything into the files. Every track then has a file, which stays.
    void keep();
    // Moves the track's bytes to the end of `to`. The track must be finished.
    void move_to(FileWriter& to, std::uint32_t track);

private:
    static constexpr std::size_t most_of_a_track = std::size_t{1} << 15;
    static constexpr std::size_t most_buffered = std::size_t{1} << 25;  // of all tracks
    struct Part {
        std::string buffer;
        std::uint64_t bytes = 0;
        bool has_file = false;
    };
    std::filesystem::path path(std::uint32_t track) const { return name_(directory_, track); }
    void spill(std::uint32_t track);
    void spill();

    std::filesystem::path directory_;
    Name name_;
    std::vector<Part> parts_;
    std::size_t buffered_ = 0;
};

}  // namespace nopscope::host
