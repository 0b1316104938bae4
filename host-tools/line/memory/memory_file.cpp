// SPDX-License-Identifier: Apache-2.0
// Memory in a file: an ELF core dump of gdb (generate-core-file) or QEMU (dump-guest-memory), or
// bytes from one address on. The file may be as large as the target's memory: it is read in parts.
#include <fmt/format.h>

#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "host-tools/base/error.hpp"
#include "host-tools/base/file.hpp"
#include "host-tools/base/text.hpp"
#include "host-tools/image/arch/arch.hpp"
#include "host-tools/line/memory/target_memory.hpp"
#include "tracer/protocol/bytes.hpp"

namespace nopscope::host {
namespace {

constexpr std::size_t program_header_bytes = 56;
constexpr std::uint16_t et_core = 4;
constexpr std::uint32_t pt_load = 1;
// PN_XNUM: the first section header's sh_info has the number of headers.
constexpr std::uint16_t many_headers = 0xffff;
constexpr std::size_t section_info_at = 44;
constexpr std::uint32_t headers_at_most = 1 << 16;

template <typename T>
T field_at(const FileParts& file, std::uint64_t offset) {
    std::uint8_t field[sizeof(T)]{};
    return file.read(offset, field) ? protocol::Reader(field, sizeof field).fixed<T>() : T{0};
}

struct Segment {
    std::uint64_t virtual_address;
    std::uint64_t physical_address;
    std::uint64_t bytes;  // in memory; those beyond file_bytes are zero
    std::uint64_t file_bytes;
    std::uint64_t file_offset;
};

bool is_core(const FileParts& file) {
    std::uint8_t header[20];
    const std::uint8_t magic[] = {0x7f, 'E', 'L', 'F', 2, 1};
    return file.read(0, header) && std::memcmp(header, magic, sizeof magic) == 0 &&
           field_at<std::uint16_t>(file, 16) == et_core &&
           arch_of_machine(field_at<std::uint16_t>(file, 18)) != nullptr;
}

std::vector<Segment> segments_of(const FileParts& file) {
    const auto table = field_at<std::uint64_t>(file, 32);
    std::uint32_t count = field_at<std::uint16_t>(file, 56);
    if (count == many_headers) {
        count = field_at<std::uint32_t>(file, field_at<std::uint64_t>(file, 40) + section_info_at);
    }
    std::vector<Segment> segments;
    if (field_at<std::uint16_t>(file, 54) != program_header_bytes || table > file.bytes())
        return segments;
    for (std::uint32_t n = 0; n < std::min(count, headers_at_most); ++n) {
        const std::uint64_t header = table + n * program_header_bytes;
        if (field_at<std::uint32_t>(file, header) != pt_load) continue;
        segments.push_back({.virtual_address = field_at<std::uint64_t>(file, header + 16),
                            .physical_address = field_at<std::uint64_t>(file, header + 24),
                            .bytes = field_at<std::uint64_t>(file, header + 40),
                            .file_bytes = field_at<std::uint64_t>(file, header + 32),
                            .file_offset = field_at<std::uint64_t>(file, header + 8)});
    }
    // QEMU's dump has only physical addresses, unless -p was given.
    const bool is_virtual = std::any_of(segments.begin(), segments.end(),
                                        [](const Segment& s) { return s.virtual_address != 0; });
    for (Segment& segment : segments) {
        if (!is_virtual) segment.virtual_address = segment.physical_address;
    }
    return segments;
}

class MemoryFile final : public TargetMemory {
public:
    MemoryFile(const std::string& path, std::optional<std::uint64_t> base) : file_(path) {
        if (base) {
            segments_ = {{*base, *base, file_.bytes(), file_.bytes(), 0}};
        } else if (is_core(file_)) {
            segments_ = segments_of(file_);
        } else {
            throw Error(
                fmt::format("{} is no core dump of an {} target: with --memory-base ADDRESS it is "
                            "read as the memory there",
                            path, arch_names(" or ")));
        }
    }
    void read(std::uint64_t address, std::span<std::uint8_t> to) override {
        while (!to.empty()) {
            const Segment* segment = segment_of(address);
            if (segment == nullptr) {
                throw Error(file_.path() + " has no memory at " + hex_address(address) +
                            ": it has " + what());
            }
            const std::uint64_t offset = address - segment->virtual_address;
            const auto count = static_cast<std::size_t>(
                std::min<std::uint64_t>(to.size(), segment->bytes - offset));
            read_part(*segment, offset, to.first(count));
            to = to.subspan(count);
            address += count;
        }
    }

private:
    const Segment* segment_of(std::uint64_t address) const {
        for (const Segment& segment : segments_) {
            if (address >= segment.virtual_address &&
                address - segment.virtual_address < segment.bytes) {
                return &segment;
            }
        }
        return nullptr;
    }
    void read_part(const Segment& segment, std::uint64_t offset, std::span<std::uint8_t> to) const {
        const std::uint64_t in_file = segment.file_bytes > offset ? segment.file_bytes - offset : 0;
        const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(to.size(), in_file));
        const std::uint64_t from = segment.file_offset + offset;
        if (from < offset || (count != 0 && !file_.read(from, to.first(count)))) {
            throw Error(file_.path() + " ends before its memory at " +
                        hex_address(segment.virtual_address + offset) + ": is it whole?");
        }
        std::fill(to.begin() + static_cast<std::ptrdiff_t>(count), to.end(), std::uint8_t{0});
    }
    std::string what() const {
        std::string text;
        for (std::size_t n = 0; n < std::min<std::size_t>(segments_.size(), 4); ++n) {
            const Segment& segment = segments_[n];
            text += (n == 0 ? "" : ", ") + hex_address(segment.virtual_address) + " to " +
                    hex_address(segment.virtual_address + segment.bytes);
        }
        return segments_.empty() ? "none at all" : text + (segments_.size() > 4 ? " and more" : "");
    }

    FileParts file_;
    std::vector<Segment> segments_;
};

}  // namespace

std::unique_ptr<TargetMemory> open_memory_file(const std::string& path,
                                               std::optional<std::uint64_t> base) {
    return std::make_unique<MemoryFile>(path, base);
}

bool is_core_dump(const std::string& path) {
    struct stat status {};
    if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
    return is_core(FileParts(path));
}

}  // namespace nopscope::host
