// SPDX-License-Identifier: Apache-2.0
#include "host-tools/base/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "host-tools/base/error.hpp"

namespace nopscope::host {

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

std::vector<std::uint8_t> read_whole_file(const std::string& path) {
    const FileParts file(path);
    std::vector<std::uint8_t> bytes(file.bytes());
    if (!file.read(0, bytes)) throw Error(path + " became shorter while it was read");
    return bytes;
}

bool begins_with(const std::string& path, std::string_view magic) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored)) return false;
    std::string head(magic.size(), '\0');
    std::ifstream file(path, std::ios::binary);
    return file.read(head.data(), static_cast<std::streamsize>(head.size())) && head == magic;
}

}  // namespace nopscope::host
