// SPDX-License-Identifier: Apache-2.0
// FileWriter writes all bytes that a command outputs, and checks each write. A new file gets its
// final name only when it is whole. So no reader sees half a file, and an error keeps the old file.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nopscope::host {

// An aggregate of a recording that is larger than this needs the user's consent (--yes).
inline constexpr std::uint64_t most_unasked_bytes = 1'000'000'000;
inline constexpr std::uint64_t any_size = ~std::uint64_t{0};

// The sentence about a refused output. `bytes`: its size; 0: only known to exceed `most_bytes`.
std::string too_large_sentence(const std::string& name, std::uint64_t bytes,
                               std::uint64_t most_bytes);

class Gzip;
class Output;

// A file for writing, with its own buffer. Throws Error on any failure, and before a write that
// would take a disk's last free bytes. The buffer is empty after a failure.
class FileWriter {
public:
    // Replaces a file of this name.
    explicit FileWriter(const std::filesystem::path& path);
    // Writes to `output`, at most output.most_bytes(); compressed if output.is_gzipped().
    explicit FileWriter(const Output& output);
    // Writes to an open descriptor, which stays open. Errors call it `name`.
    FileWriter(int descriptor, std::string name);
    ~FileWriter();
    FileWriter(const FileWriter&) = delete;
    FileWriter& operator=(const FileWriter&) = delete;

    // Compresses all bytes from now on. What limit(), expect() and offset() count stays
    // uncompressed. The second call does nothing.
    void gzip();
    // Room for `bytes`, at most max_room. Then call used() with the end of the written bytes.
    static constexpr std::size_t max_room = std::size_t{1} << 12;
    char* room(std::size_t bytes) {
        if (buffer_bytes - at_ < bytes) [[unlikely]]
            flush();
        return buffer_.data() + at_;
    }
    void used(const char* end) { at_ = static_cast<std::size_t>(end - buffer_.data()); }

    void write(std::string_view bytes);
    // Writes the contents of this file.
    void append(const std::filesystem::path& path);
    // Announces `bytes` more. Throws Error at once if they exceed the limit or the disk's room.
    void expect(std::uint64_t bytes) const;
    // From now on, write() and flush() throw Error if the file would exceed `most_bytes`.
    void limit(std::uint64_t most_bytes) { most_bytes_ = most_bytes; }
    std::uint64_t offset() const { return written_ + at_; }
    void flush();
    void close();

private:
    static constexpr std::size_t buffer_bytes = std::size_t{1} << 18;
    void put(std::string_view bytes);
    void send(std::string_view bytes);
    [[noreturn]] void fail(int error) const;

    std::string name_;
    std::vector<char> buffer_;
    std::size_t at_ = 0;
    std::uint64_t written_ = 0;
    std::uint64_t most_bytes_ = any_size;
    std::unique_ptr<Gzip> gzip_;
    int file_ = -1;
    bool is_ours_ = true;  // close() closes the descriptor
    bool is_on_disk_ = false;
};

// Prints to standard output. Throws Error. run_main() flushes the buffer when the command ends;
// call standard_output().flush() if a reader waits for the text before.
void print(std::string_view text);
template <typename First, typename... Rest>
void print(fmt::format_string<First, Rest...> format, First&& first, Rest&&... rest) {
    print(fmt::format(format, std::forward<First>(first), std::forward<Rest>(rest)...));
}
FileWriter& standard_output();
// True for "-", /dev/stdout and /dev/fd/1.
bool is_standard_output(const std::string& name);
// Flushes standard output at a command's end. Throws Error, also if a write to C's stdout failed.
void finish_standard_output();

// The output that an option names: a file, a directory that an export fills, or a stream. A stream
// is standard output ("-"), another open descriptor (/dev/stdout, /dev/fd/N), a named pipe, or a
// device such as /dev/null. Its bytes go out at once. A link stays; its target is written.
class Output {
public:
    enum class Kind : std::uint8_t { file, directory };
    // Throws Error if `name` exists and may not be replaced: a directory that no export made, or
    // one where a file is needed. Exit::usage: a directory is needed, and `name` is a stream or
    // that of a compressed file.
    Output(const std::string& name, Kind kind, std::uint64_t most_bytes = any_size);
    // Removes the output unless it was committed.
    ~Output();
    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;

    // For a format that seeks, or that writes more files beside its own; others use
    // FileWriter(output). A directory is `path()` itself, for the format to fill. For a stream it
    // is a temporary file, which commit() sends.
    const std::filesystem::path& path() const;
    const std::string& name() const { return said_; }
    // The name is a compressed file's: it ends in .gz.
    bool is_gzipped() const { return said_.ends_with(".gz"); }
    bool is_stream() const { return stream_ >= 0; }
    int stream() const { return stream_; }  // -1: it is not a stream
    std::uint64_t most_bytes() const { return most_bytes_; }
    // Gives the complete output its name. Throws Error.
    void commit();

private:
    std::string said_;            // as the option names it
    std::filesystem::path name_;  // without links
    mutable std::filesystem::path path_;
    mutable std::filesystem::path temporary_;  // a directory around path_; empty: none
    Kind kind_;
    std::uint64_t most_bytes_;
    int stream_ = -1;
    bool committed_ = false;
};

// Prints a line to stderr, after the command's name. `sentence` may contain outside text.
void say(const std::string& sentence);

}  // namespace nopscope::host
