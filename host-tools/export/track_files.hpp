// SPDX-License-Identifier: Apache-2.0
// Bytes by track, for formats that have a part of the file, or a file, for each: any number of tracks takes
// one open file and some kilobytes a track.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "host-tools/base/output.hpp"

namespace nopscope {

class TrackFiles {
public:
    // The name of a track's file.
    using Name = std::filesystem::path (*)(const std::filesystem::path& directory, std::uint32_t track);

    TrackFiles(std::filesystem::path directory, Name name) : directory_(std::move(directory)), name_(name) {}

    void add(std::uint32_t track) { buffers_.resize(track + 1); }
    void write(std::uint32_t track, std::string_view bytes) {
        std::string& buffer = buffers_[track];
        buffer += bytes;
        if (buffer.size() >= buffer_bytes) flush(track);
    }
    std::uint32_t tracks() const { return static_cast<std::uint32_t>(buffers_.size()); }
    std::filesystem::path path(std::uint32_t track) const { return name_(directory_, track); }
    // Everything is in the files, of which each is there.
    void flush();
    // Of a track, after flush(); the file goes away.
    void move_to(FileWriter& to, std::uint32_t track);

private:
    static constexpr std::size_t buffer_bytes = std::size_t{1} << 15;
    void flush(std::uint32_t track);

    std::filesystem::path directory_;
    Name name_;
    std::vector<std::string> buffers_;
};

}  // namespace nopscope
