// SPDX-License-Identifier: Apache-2.0
#include "host-tools/image/debug_file.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "host-tools/base/error.hpp"
#include "host-tools/base/file.hpp"
#include "host-tools/base/text.hpp"
#include "tracer/protocol/bytes.hpp"

namespace nopscope::host {
namespace {

namespace fs = std::filesystem;

// .gnu_debuglink: a name, zeros up to 4 bytes, a checksum of the file.
struct DebugLink {
    std::string_view name;
    std::uint32_t crc = 0;
};

DebugLink debug_link(const ElfFile& elf) {
    const ElfSection* const section = elf.section(".gnu_debuglink");
    if (section == nullptr) return {};
    const auto* const text = reinterpret_cast<const char*>(section->bytes.data());
    const std::size_t length = strnlen(text, section->bytes.size()), at = length / 4 * 4 + 4;
    if (section->bytes.size() < at + 4) return {};
    protocol::Reader in(section->bytes.data() + at, 4);
    return {{text, length}, in.fixed<std::uint32_t>()};
}

std::uint32_t crc_of(const std::string& path) {
    const FileParts file(path);
    std::vector<std::uint8_t> bytes(std::size_t{1} << 16);
    uLong crc = 0;
    for (std::uint64_t at = 0; at < file.bytes(); at += bytes.size()) {
        bytes.resize(std::min<std::uint64_t>(bytes.size(), file.bytes() - at));
        if (!file.read(at, bytes)) break;
        crc = crc32(crc, bytes.data(), static_cast<uInt>(bytes.size()));
    }
    return static_cast<std::uint32_t>(crc);
}

}  // namespace

std::vector<std::string> debug_file_places(const std::string& image, std::string_view name,
                                           std::span<const std::uint8_t> build_id) {
    std::error_code none;
    const fs::path beside = fs::absolute(image, none).parent_path(), system = "/usr/lib/debug";
    std::vector<fs::path> places;
    if (build_id.size() > 1) {
        const std::string id = to_hex(build_id);
        for (const fs::path& root : {beside, system})
            places.push_back(root / ".build-id" / id.substr(0, 2) / (id.substr(2) + ".debug"));
    }
    if (!name.empty()) {
        for (const fs::path& folder : {beside, beside / ".debug", system / beside.relative_path()})
            places.push_back(folder / name);
    }
    std::vector<std::string> files;
    for (const fs::path& place : places) {
        if (fs::is_regular_file(place, none) && !fs::equivalent(place, image, none))
            files.push_back(place);
    }
    return files;
}

std::optional<ElfFile> find_debug_file(const ElfFile& elf) {
    const DebugLink link = debug_link(elf);
    const auto id = elf.build_id();
    for (const std::string& place : debug_file_places(elf.path(), link.name, id)) {
        try {
            ElfFile file = ElfFile::open_alone(place);
            if (id.empty() ? crc_of(place) == link.crc : std::ranges::equal(id, file.build_id()))
                return file;
        } catch (const Error&) {  // another file lies there
        }
    }
    return std::nullopt;
}

}  // namespace nopscope::host
