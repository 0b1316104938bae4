// SPDX-License-Identifier: Apache-2.0
#include "host-tools/base/output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

#include "host-tools/base/error.hpp"
#include "host-tools/base/file.hpp"
#include "host-tools/base/gzip.hpp"
#include "host-tools/base/same_file.hpp"
#include "host-tools/base/text.hpp"

namespace nopscope::host {

namespace fs = std::filesystem;
namespace {

// Marks a directory that an export has made. Readers of such directories ignore hidden files.
constexpr char made_by_us[] = ".nopscope-export";

bool is_regular(int file) {
    struct stat status {};
    return ::fstat(file, &status) == 0 && S_ISREG(status.st_mode);
}

// For this user; any_size if the file system does not say.
std::uint64_t free_bytes(int file) {
    struct statvfs disk {};
    if (::fstatvfs(file, &disk) != 0 || disk.f_blocks == 0) return any_size;
    return std::uint64_t{disk.f_bavail} * disk.f_frsize;
}

// Returns the errno of a failure, or 0 if all bytes were written.
int write_all(int file, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t done = ::write(file, bytes.data(), bytes.size());
        if (done >= 0) {
            bytes.remove_prefix(static_cast<std::size_t>(done));
        } else if (errno == EAGAIN) {  // another process made it non-blocking
            pollfd waiting{file, POLLOUT, 0};
            ::poll(&waiting, 1, -1);
        } else if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

[[noreturn]] void fail_to_write(const std::string& name, int error) {
    const std::string sentence = fmt::format("cannot write {}: {}", name, system_error(error));
    if (error == EPIPE && name == "standard output") throw ReaderGone(sentence);
    throw Error(sentence);
}

// The size as text for a sentence.
std::string size_text(std::uint64_t bytes) {
    if (bytes < 1000) return fmt::format("{} byte{}", bytes, bytes == 1 ? "" : "s");
    const auto size = static_cast<double>(bytes);
    if (bytes < 1'000'000) return fmt::format("{:.1f} kB", size / 1e3);
    if (bytes < 1'000'000'000) return fmt::format("{:.1f} MB", size / 1e6);
    return fmt::format("{:.1f} GB", size / 1e9);
}

// Nothing: `name` is not that of an open descriptor.
std::optional<int> descriptor_of(const std::string& name) {
    return name == "-" ? STDOUT_FILENO : open_descriptor(follow_links(name));
}

int open_stream(const std::string& name, const fs::file_status& there) {
    const std::optional<int> open_one = descriptor_of(name);
    if (!open_one && !fs::is_fifo(there) && !fs::is_character_file(there)) return -1;
    const int stream = open_one ? ::fcntl(*open_one, F_DUPFD_CLOEXEC, 0)
                                : ::open(name.c_str(), O_WRONLY | O_CLOEXEC);
    if (stream < 0) throw Error(fmt::format("cannot write {}: {}", name, system_error(errno)));
    return stream;
}

}  // namespace

std::string too_large_sentence(const std::string& name, std::uint64_t bytes,
                               std::uint64_t most_bytes) {
    const std::string most = size_text(most_bytes);
    const std::string has = bytes != 0
                                ? fmt::format("{}, and more than {} is", size_text(bytes), most)
                                : fmt::format("more than {}, which is", most);
    return fmt::format("{} would have {} written only with --yes: give it, or ask for less", name,
                       has);
}

FileWriter::FileWriter(const fs::path& path) : name_(path.string()), buffer_(buffer_bytes) {
    file_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file_ < 0) fail(errno);
    is_on_disk_ = is_regular(file_);
}

FileWriter::FileWriter(int descriptor, std::string name)
    : name_(std::move(name)),
      buffer_(buffer_bytes),
      file_(descriptor),
      is_ours_(false),
      is_on_disk_(is_regular(descriptor)) {}

FileWriter::FileWriter(const Output& output)
    : name_(output.name()), buffer_(buffer_bytes), most_bytes_(output.most_bytes()) {
    file_ = output.is_stream()
                ? ::fcntl(output.stream(), F_DUPFD_CLOEXEC, 0)
                : ::open(output.path().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file_ < 0) fail(errno);
    is_on_disk_ = is_regular(file_);
    if (output.is_gzipped()) gzip();
}

FileWriter::~FileWriter() {
    if (is_ours_ && file_ >= 0) ::close(file_);
}

void FileWriter::gzip() {
    if (gzip_) return;
    flush();
    gzip_ = std::make_unique<Gzip>([this](std::string_view bytes) { send(bytes); });
}

void FileWriter::fail(int error) const { fail_to_write(name_, error); }

void FileWriter::expect(std::uint64_t bytes) const {
    const std::uint64_t all = offset() + bytes;
    if (all > most_bytes_) throw Error(too_large_sentence(name_, all, most_bytes_));
    if (const std::uint64_t room = is_on_disk_ && !gzip_ ? free_bytes(file_) : any_size;
        bytes > room) {
        throw Error(fmt::format(
            "{} would have {}, and its disk has room for {}: make room, or give another disk",
            name_, size_text(all), size_text(room)));
    }
}

void FileWriter::put(std::string_view bytes) {
    if (written_ + bytes.size() > most_bytes_)
        throw Error(too_large_sentence(name_, 0, most_bytes_));
    written_ += bytes.size();
    return gzip_ ? gzip_->add(bytes) : send(bytes);
}

void FileWriter::send(std::string_view bytes) {
    // Root could also take the blocks that the disk reserves for the system.
    if (is_on_disk_ && bytes.size() > free_bytes(file_)) fail(ENOSPC);
    if (const int error = write_all(file_, bytes); error != 0) fail(error);
}

void FileWriter::flush() {
    if (at_ != 0) put({buffer_.data(), std::exchange(at_, 0)});
}

void FileWriter::write(std::string_view bytes) {
    if (bytes.size() > buffer_bytes - at_) {
        flush();
        if (bytes.size() > buffer_bytes) return put(bytes);
    }
    std::copy(bytes.begin(), bytes.end(), buffer_.data() + at_);  // `bytes` may be empty
    at_ += bytes.size();
}

void FileWriter::close() {
    flush();
    if (gzip_) gzip_->finish();
    if (is_ours_ && ::close(std::exchange(file_, -1)) != 0) fail(errno);
}

void FileWriter::append(const fs::path& path) {
    const auto close_file = [](std::FILE* file) { std::fclose(file); };
    const std::unique_ptr<std::FILE, decltype(close_file)> from(std::fopen(path.c_str(), "rbe"),
                                                                close_file);
    char bytes[1 << 15];
    for (std::size_t count = 0;
         from && (count = std::fread(bytes, 1, sizeof bytes, from.get())) != 0;)
        write({bytes, count});
    if (!from || std::ferror(from.get()) != 0) {
        throw Error(fmt::format("cannot read {}: {}", path.string(), system_error(errno)));
    }
}

FileWriter& standard_output() {
    static FileWriter writer(STDOUT_FILENO, "standard output");
    return writer;
}

bool is_standard_output(const std::string& name) { return descriptor_of(name) == STDOUT_FILENO; }

void finish_standard_output() {
    standard_output().flush();
    // A network file system may report a failed write only when the file is closed.
    const int copy = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    errno = 0;
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && (copy < 0 || ::close(copy) == 0))
        return;
    fail_to_write("standard output", errno != 0 ? errno : EIO);
}

void print(std::string_view text) { standard_output().write(text); }

Output::Output(const std::string& name, Kind kind, std::uint64_t most_bytes)
    : said_(name == "-" ? "standard output" : name),
      name_(name),
      kind_(kind),
      most_bytes_(most_bytes) {
    if (name_.has_relative_path() && !name_.has_filename()) name_ = name_.parent_path();  // DIR/
    std::error_code error;
    const fs::file_status there = fs::status(name_, error);
    if (kind == Kind::directory && descriptor_of(name)) {
        throw Error(
            fmt::format(
                "{} is no directory, and this format is a directory of files: give -o a name",
                said_),
            Exit::usage);
    }
    if (kind == Kind::directory && is_gzipped()) {
        throw Error(fmt::format("{}: this format is a directory of files, and is not compressed: "
                                "give a name without .gz",
                                said_),
                    Exit::usage);
    }
    if (kind == Kind::file && (stream_ = open_stream(name, there)) >= 0) return;
    if (kind == Kind::file && fs::exists(there) && !fs::is_regular_file(there)) {
        throw Error(fmt::format("{} is there and is no file: give -o another name", said_));
    }
    if (kind == Kind::directory && fs::exists(there) && !fs::exists(name_ / made_by_us, error)) {
        throw Error(fmt::format(
            "{} is there and was not made by `nopscope export`: give -o another name, or remove it",
            said_));
    }
    name_ = follow_links(name_);
    path_ = fmt::format("{}.part-{}", name_.string(), ::getpid());
    if (kind == Kind::file) return;
    if (!fs::create_directory(path_, error)) {
        throw Error(fmt::format("cannot make {}: {}", path_.string(), error.message()));
    }
    FileWriter(path_ / made_by_us).close();
}

Output::~Output() {
    if (stream_ >= 0) ::close(stream_);
    std::error_code ignored;
    if (!temporary_.empty()) {
        fs::remove_all(temporary_, ignored);
    } else if (!committed_ && !path_.empty()) {
        fs::remove_all(path_, ignored);
    }
}

const fs::path& Output::path() const {
    if (!path_.empty()) return path_;
    std::error_code error;
    std::string pattern = (fs::temp_directory_path(error) / "nopscope-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) {
        throw Error(fmt::format("cannot make {}, for what {} must wait for: {}", pattern, said_,
                                system_error(errno)));
    }
    temporary_ = pattern;
    return path_ = temporary_ / "out";
}

void Output::commit() {
    std::error_code error;
    committed_ = true;
    if (is_stream()) {
        if (temporary_.empty() || !fs::exists(path_, error)) return;
        FileWriter to(*this);
        to.append(path_);
        return to.close();
    }
    committed_ = false;
    const fs::path before = path_.string() + "-before";
    const bool replaces = kind_ == Kind::directory && fs::exists(name_, error);
    if (replaces) fs::rename(name_, before, error);
    if (!error) fs::rename(path_, name_, error);
    if (error) throw Error(fmt::format("cannot write {}: {}", said_, error.message()));
    committed_ = true;
    if (replaces) fs::remove_all(before, error);
}

void say(const std::string& sentence) {
    fmt::print(stderr, "nopscope: {}\n", for_terminal(sentence));
}

}  // namespace nopscope::host
