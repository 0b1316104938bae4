// SPDX-License-Identifier: Apache-2.0
#include "host-tools/export/track_files.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <memory>

#include "host-tools/base/error.hpp"
#include "host-tools/base/file.hpp"

namespace nopscope {
namespace {

struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

[[noreturn]] void fail(const std::filesystem::path& path) {
    throw Error(fmt::format("cannot write {}: {}", path.string(), system_error(errno)));
}

}  // namespace

void TrackFiles::flush(std::uint32_t track) {
    std::string& buffer = buffers_[track];
    File file(std::fopen(path(track).c_str(), "ab"));
    if (!file || std::fwrite(buffer.data(), 1, buffer.size(), file.get()) != buffer.size() ||
        std::fclose(file.release()) != 0) {
        fail(path(track));
    }
    buffer.clear();
}

void TrackFiles::flush() {
    for (std::uint32_t track = 0; track < tracks(); ++track) flush(track);
}

void TrackFiles::move_to(FileWriter& to, std::uint32_t track) {
    to.append(path(track));
    std::filesystem::remove(path(track));
}

}  // namespace nopscope
