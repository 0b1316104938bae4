// SPDX-License-Identifier: Apache-2.0
#include "host-tools/views/export/track_files.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <memory>

#include "host-tools/base/error.hpp"
#include "host-tools/base/file.hpp"

namespace nopscope::host {
namespace {

struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

[[noreturn]] void fail(const std::filesystem::path& path) {
    throw Error(fmt::format("cannot write {}: {}", path.string(), system_error(errno)));
}

}  // namespace

TrackFiles::~TrackFiles() {
    std::error_code ignored;
    for (std::uint32_t track = 0; track < tracks(); ++track) {
        if (parts_[track].has_file) std::filesystem::remove(path(track), ignored);
    }
}

void TrackFiles::spill(std::uint32_t track) {
    Part& part = parts_[track];
    File file(std::fopen(path(track).c_str(), "ab"));
    part.has_file = true;
    if (!file ||
        std::fwrite(part.buffer.data(), 1, part.buffer.size(), file.get()) != part.buffer.size() ||
        std::fclose(file.release()) != 0) {
        fail(path(track));
    }
    buffered_ -= part.buffer.size();
    std::string().swap(part.buffer);  // frees its memory, too
}

void TrackFiles::spill() {
    for (std::uint32_t track = 0; track < tracks(); ++track) {
        if (!parts_[track].buffer.empty()) spill(track);
    }
}

void TrackFiles::keep() {
    for (std::uint32_t track = 0; track < tracks(); ++track) spill(track);
    parts_.clear();
}

void TrackFiles::move_to(FileWriter& to, std::uint32_t track) {
    Part& part = parts_[track];
    if (part.has_file) {
        to.append(path(track));
        std::filesystem::remove(path(track));
        part.has_file = false;
    }
    to.write(part.buffer);
    buffered_ -= part.buffer.size();
    std::string().swap(part.buffer);
}

}  // namespace nopscope::host
