// SPDX-License-Identifier: Apache-2.0
#include "host-tools/base/new_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "host-tools/base/error.hpp"
#include "host-tools/base/same_file.hpp"

namespace nopscope::host {
namespace {

[[noreturn]] void fail(const std::string& what, const std::string& path) {
    throw Error("cannot " + what + " " + path + ": " + system_error(errno));
}

// The process that holds a lock on `file`, from /proc/locks; 0: not known.
int lock_holder(int file) {
    struct stat of {};
    if (fstat(file, &of) != 0) return 0;
    const std::string wanted =
        fmt::format("{:02x}:{:02x}:{}", major(of.st_dev), minor(of.st_dev), of.st_ino);
    std::ifstream locks("/proc/locks");
    for (std::string line; std::getline(locks, line);) {
        std::istringstream words(line);
        std::string number, kind, advisory, access, place;
        int process = 0;
        if (words >> number >> kind >> advisory >> access >> process >> place && kind == "FLOCK" &&
            place == wanted) {
            return process;
        }
    }
    return 0;
}

[[noreturn]] void refuse(int process, const std::string& path) {
    throw Error(fmt::format("{} records into {} already: end that first, or give another name",
                            process > 0 ? fmt::format("process {}", process) : "another process",
                            path));
}

}  // namespace

std::string old_name(const std::string& path) { return path + ".old"; }
std::string part_name(const std::string& path) { return path + ".part"; }

NewFile::NewFile(const std::string& path, Place place) : path_(path) {
    struct stat of {};
    const bool exists = stat(path.c_str(), &of) == 0;
    if (exists && S_ISDIR(of.st_mode)) throw Error(path + " is a directory: give a file's name");
    if (place == Place::at_once || (exists && !S_ISREG(of.st_mode))) {
        file_ = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        if (file_ < 0) fail("create", path);
        in_place_ = true;
        return;
    }
    // Renames the file that a link leads to; the link stays.
    path_ = follow_links(path).string();
    part_ = part_name(path_);
    try {
        open_part();
        refuse_other_writer();
        if (ftruncate(file_, 0) != 0) fail("write", part_);
    } catch (const Error&) {
        if (file_ >= 0) close(file_);
        throw;
    }
}

// Opens and locks the file. In between, another process may have renamed or removed it.
void NewFile::open_part() {
    for (struct stat mine{}, there{};;) {
        file_ = open(part_.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (file_ < 0) fail("create", part_);
        refuse_other_writer(file_);
        if (fstat(file_, &mine) == 0 && stat(part_.c_str(), &there) == 0 && is_same(mine, there))
            return;
        close(file_);
    }
}

// A writer after take_place() holds the lock of PATH itself. A read-only PATH is not replaced.
void NewFile::refuse_other_writer() const {
    const int file = open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    try {
        if (file < 0 && errno != ENOENT) fail("write", path_);
        if (file >= 0) refuse_other_writer(file);
    } catch (const Error&) {
        unlink(part_.c_str());
        if (file >= 0) close(file);
        throw;
    }
    if (file >= 0) close(file);
}

// A file system without locks (some NFS) refuses no writer.
void NewFile::refuse_other_writer(int file) const {
    if (flock(file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
    refuse(lock_holder(file), path_);
}

void refuse_other_writer(const std::string& path) {
    const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (file < 0) return;
    const bool locked = flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    const int process = locked ? lock_holder(file) : 0;
    close(file);
    if (locked) refuse(process, path);
}

NewFile::~NewFile() {
    if (!in_place_ && !keeps_part_) unlink(part_.c_str());
    close(file_);
}

void NewFile::write(std::span<const std::uint8_t> bytes) {
    while (!bytes.empty()) {
        const ssize_t count = ::write(file_, bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) fail("write", path_);
        bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
}

std::unique_ptr<FileParts> NewFile::open_to_read() const {
    return std::make_unique<FileParts>(fmt::format("/proc/self/fd/{}", file_));
}

void NewFile::take_place() {
    if (in_place_) return;
    struct stat of {};
    const bool has_contents = stat(path_.c_str(), &of) == 0 && of.st_size != 0;
    keeps_part_ = true;
    if (has_contents && std::rename(path_.c_str(), old_name(path_).c_str()) != 0) {
        throw Error(fmt::format("cannot rename {} to {}: {}; the recording is in {}", path_,
                                old_name(path_), system_error(errno), part_));
    }
    if (std::rename(part_.c_str(), path_.c_str()) != 0) {
        throw Error(fmt::format("cannot rename {} to {}: {}", part_, path_, system_error(errno)));
    }
    in_place_ = true;
}

}  // namespace nopscope::host
