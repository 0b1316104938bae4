// SPDX-License-Identifier: Apache-2.0
#include "host-tools/export/output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "host-tools/base/error.hpp"
#include "host-tools/base/file.hpp"

namespace nopscope {
namespace fs = std::filesystem;
namespace {

// In a directory that an export has made. Readers of such directories pass over hidden files.
constexpr char made_by_us[] = ".nopscope-export";

void write_all(int file, const char* bytes, std::size_t count, const fs::path& path) {
    while (count != 0) {
        const ssize_t done = ::write(file, bytes, count);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) throw Error(fmt::format("cannot write {}: {}", path.string(), system_error(errno)));
        bytes += done;
        count -= static_cast<std::size_t>(done);
    }
}

}  // namespace

FileWriter::FileWriter(const fs::path& path) : path_(path), buffer_(buffer_bytes) {
    file_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file_ < 0) fail();
}

FileWriter::~FileWriter() {
    if (file_ >= 0) ::close(file_);
}

void FileWriter::fail() const {
    throw Error(fmt::format("cannot write {}: {}", path_.string(), system_error(errno)));
}

void FileWriter::flush() {
    write_all(file_, buffer_.data(), at_, path_);
    written_ += at_;
    at_ = 0;
}

void FileWriter::write(std::string_view bytes) {
    if (bytes.size() > buffer_bytes - at_) {
        flush();
        if (bytes.size() > buffer_bytes) {
            write_all(file_, bytes.data(), bytes.size(), path_);
            written_ += bytes.size();
            return;
        }
    }
    std::copy(bytes.begin(), bytes.end(), buffer_.data() + at_);  // of nothing, too
    at_ += bytes.size();
}

void FileWriter::write_at(std::uint64_t offset, std::string_view bytes) {
    flush();
    if (::pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(offset)) !=
        static_cast<ssize_t>(bytes.size())) {
        fail();
    }
}

void FileWriter::close() {
    flush();
    if (::close(std::exchange(file_, -1)) != 0) fail();
}

Output::Output(fs::path name, Kind kind) : name_(std::move(name)), kind_(kind) {
    if (name_.has_relative_path() && !name_.has_filename()) name_ = name_.parent_path();  // DIR/
    std::error_code error;
    const fs::file_status there = fs::status(name_, error);
    if (kind == Kind::file && fs::exists(there) && !fs::is_regular_file(there)) {
        throw Error(fmt::format("{} is there and is no file: give -o another name", name_.string()));
    }
    if (kind == Kind::directory && fs::exists(there) && !fs::exists(name_ / made_by_us, error)) {
        throw Error(fmt::format("{} is there and was not made by `nopscope export`: give -o another name, or "
                                "remove it", name_.string()));
    }
    path_ = fmt::format("{}.part-{}", name_.string(), ::getpid());
    if (kind == Kind::file) return;
    if (!fs::create_directory(path_, error)) {
        throw Error(fmt::format("cannot make {}: {}", path_.string(), error.message()));
    }
    FileWriter(path_ / made_by_us).close();
}

Output::~Output() {
    std::error_code ignored;
    if (!committed_) fs::remove_all(path_, ignored);
}

void Output::commit() {
    std::error_code error;
    const fs::path before = path_.string() + "-before";
    const bool replaces = kind_ == Kind::directory && fs::exists(name_, error);
    if (replaces) fs::rename(name_, before, error);
    if (!error) fs::rename(path_, name_, error);
    if (error) throw Error(fmt::format("cannot write {}: {}", name_.string(), error.message()));
    committed_ = true;
    if (replaces) fs::remove_all(before, error);
}

}  // namespace nopscope
