// SPDX-License-Identifier: Apache-2.0
// Where an export goes: beside its final name until it is whole, so that nobody reads half of one and an
// error leaves what was there.
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace nopscope {

// A file for writing, with a buffer of its own. Throws Error on any failure.
class FileWriter {
public:
    explicit FileWriter(const std::filesystem::path& path);
    ~FileWriter();
    FileWriter(const FileWriter&) = delete;
    FileWriter& operator=(const FileWriter&) = delete;

    // Room for so many bytes, at most max_room; used() says how far they were written.
    static constexpr std::size_t max_room = std::size_t{1} << 12;
    char* room(std::size_t bytes) {
        if (buffer_bytes - at_ < bytes) [[unlikely]]
            flush();
        return buffer_.data() + at_;
    }
    void used(const char* end) { at_ = static_cast<std::size_t>(end - buffer_.data()); }

    void write(std::string_view bytes);
    // Overwrites what was written before.
    void write_at(std::uint64_t offset, std::string_view bytes);
    std::uint64_t offset() const { return written_ + at_; }
    void close();

private:
    static constexpr std::size_t buffer_bytes = std::size_t{1} << 18;
    void flush();
    [[noreturn]] void fail() const;

    std::filesystem::path path_;
    std::vector<char> buffer_;
    std::size_t at_ = 0;
    std::uint64_t written_ = 0;
    int file_ = -1;
};

// The name of an export while it is written. A directory is `path()` itself, and is ours to fill.
class Output {
public:
    enum class Kind : std::uint8_t { file, directory };
    // Throws Error when `name` is there and may not be replaced: it is no file, or a directory that no
    // export has made.
    Output(std::filesystem::path name, Kind kind);
    // Takes away what was not committed.
    ~Output();
    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;

    const std::filesystem::path& path() const { return path_; }
    // All of it is written: it gets its name.
    void commit();

private:
    std::filesystem::path name_;
    std::filesystem::path path_;
    Kind kind_;
    bool committed_ = false;
};

}  // namespace nopscope
