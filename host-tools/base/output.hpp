// SPDX-License-Identifier: Apache-2.0
// Every byte that a command writes for a person or another tool goes through FileWriter, which
// checks each write. A file that is written anew stands beside its final name until it is whole, so
// that nobody reads half of one and an error leaves what was there.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nopscope::host {

// A sum of a recording that is larger than this is written only if the user agrees (--yes).
inline constexpr std::uint64_t most_unasked_bytes = 1'000'000'000;
inline constexpr std::uint64_t any_size = ~std::uint64_t{0};

// The sentence of what was refused. `bytes`: of the whole output, or 0: not known, only that it is more than `most_bytes`.
std::string too_large_sentence(const std::string& name, std::uint64_t bytes, std::uint64_t most_bytes);

class Output;

// A file for writing, with a buffer of its own. Throws Error on any failure: also before a write
// that would take the last free bytes of a disk. The buffer is empty after a failure.
class FileWriter {
public:
    // Replaces a file of this name.
    explicit FileWriter(const std::filesystem::path& path);
    // Where `output` goes; at most output.most_bytes().
    explicit FileWriter(const Output& output);
    // An open descriptor, which stays open; `name` is what an error calls it.
    FileWriter(int descriptor, std::string name);
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
    // The bytes of this file.
    void append(const std::filesystem::path& path);
    // `bytes` more will be written. Throws Error, before anything is, if they are too many or the
    // disk has no room.
    void expect(std::uint64_t bytes) const;
    // From now on write() and flush() throw Error if the file would have more bytes.
    void limit(std::uint64_t most_bytes) { most_bytes_ = most_bytes; }
    std::uint64_t offset() const { return written_ + at_; }
    void flush();
    void close();

private:
    static constexpr std::size_t buffer_bytes = std::size_t{1} << 18;
    void put(std::string_view bytes);
    [[noreturn]] void fail(int error) const;

    std::string name_;
    std::vector<char> buffer_;
    std::size_t at_ = 0;
    std::uint64_t written_ = 0;
    std::uint64_t most_bytes_ = any_size;
    int file_ = -1;
    bool is_ours_ = true;  // the descriptor, to close
    bool is_on_disk_ = false;
};

// To standard output. Throws Error. run_main() writes the buffer out when the command ends; before
// that standard_output().flush() does, for what a reader waits for.
void print(std::string_view text);
template <typename First, typename... Rest>
void print(fmt::format_string<First, Rest...> format, First&& first, Rest&&... rest) {
    print(fmt::format(format, std::forward<First>(first), std::forward<Rest>(rest)...));
}
FileWriter& standard_output();
// "-", /dev/stdout, /dev/fd/1.
bool is_standard_output(const std::string& name);
// The end of a command: all of it is out. Throws Error if any of it is not, also what others wrote
// to C's stdout.
void finish_standard_output();

// The output that an option names: a file, a directory that an export fills, or a stream. A stream
// is standard output ("-"), another open descriptor (/dev/stdout, /dev/fd/N), a pipe with a name or
// a device such as /dev/null: its bytes go out as they are written. A link stays, and its target is
// written.
class Output {
public:
    enum class Kind : std::uint8_t { file, directory };
    // Throws Error when `name` is there and may not be replaced: a directory that no export has
    // made, or where one is wanted a file. Exit::usage: a directory is wanted, and `name` is a
    // stream.
    Output(const std::string& name, Kind kind, std::uint64_t most_bytes = any_size);
    // Takes away what was not committed.
    ~Output();
    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;

    // For a format that must seek, or that writes other files beside its own. A directory is
    // `path()` itself, and is ours to fill. Of a stream it is a temporary file, which commit()
    // sends. All others take FileWriter(output).
    const std::filesystem::path& path() const;
    const std::string& name() const { return said_; }
    bool is_stream() const { return stream_ >= 0; }
    int stream() const { return stream_; }  // -1: it is none
    std::uint64_t most_bytes() const { return most_bytes_; }
    // All of it is written: it gets its name. Throws Error.
    void commit();

private:
    std::string said_;            // as the option says it
    std::filesystem::path name_;  // without links
    mutable std::filesystem::path path_;
    mutable std::filesystem::path temporary_;  // a directory around path_; empty: there is none
    Kind kind_;
    std::uint64_t most_bytes_;
    int stream_ = -1;
    bool committed_ = false;
};

}  // namespace nopscope::host
