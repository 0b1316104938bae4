// SPDX-License-Identifier: Apache-2.0
#include "host-tools/base/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

#include "host-tools/base/error.hpp"

namespace nopscope::host {
namespace {

constexpr std::size_t most_whole_file_bytes = std::size_t{1} << 28;

}  // namespace

std::string system_error(int number) { return std::generic_category().message(number); }

std::vector<std::uint8_t> read_whole_file(const std::string& path) {
    const auto close = [](std::FILE* file) { std::fclose(file); };
    const std::unique_ptr<std::FILE, decltype(close)> file(std::fopen(path.c_str(), "rb"), close);
    if (!file) throw Error("cannot open " + path + ": " + system_error(errno));
    std::vector<std::uint8_t> bytes;
    std::size_t size = 0;
    for (;;) {
        bytes.resize(size + (std::size_t{1} << 20));
        const std::size_t got = std::fread(bytes.data() + size, 1, bytes.size() - size, file.get());
        if (got == 0) break;
        size += got;
        if (size > most_whole_file_bytes)
            throw Error(path + " has more than 256 MB: it cannot be the file that is meant");
    }
    if (std::ferror(file.get()) != 0) {
        throw Error("cannot read " + path + ": " + system_error(errno));
    }
    bytes.resize(size);
    return bytes;
}

FileParts::FileParts(const std::string& path)
    // O_NONBLOCK: open() does not wait for a pipe.
    : path_(path), descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (descriptor_ < 0) throw Error("cannot open " + path + ": " + system_error(errno));
    struct stat status {};
    if (fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) {
        close(descriptor_);
        throw Error(path + " is no regular file, but a directory, a device or a pipe");
    }
    bytes_ = static_cast<std::uint64_t>(status.st_size);
}

FileParts::~FileParts() { close(descriptor_); }

bool FileParts::read(std::uint64_t offset, std::span<std::uint8_t> to) const {
    if (offset > bytes_ || to.size() > bytes_ - offset) return false;
    while (!to.empty()) {
        const ssize_t count = pread(descriptor_, to.data(), to.size(), static_cast<off_t>(offset));
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) throw Error("cannot read " + path_ + ": " + system_error(errno));
        if (count == 0) return false;
        to = to.subspan(static_cast<std::size_t>(count));
        offset += static_cast<std::uint64_t>(count);
    }
    return true;
}

}  // namespace nopscope::host
