// SPDX-License-Identifier: Apache-2.0
#include "host-tools/line/memory/memory_source.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host-tools/base/error.hpp"
#include "host-tools/base/text.hpp"
#include "host-tools/line/memory/pull.hpp"

namespace nopscope::host {
namespace {

class PulledLine final : public Source {
public:
    explicit PulledLine(std::vector<std::uint8_t> line) : line_(std::move(line)) {}
    Result read(std::span<std::uint8_t> to, std::chrono::milliseconds /*timeout*/) override {
        const std::size_t count = std::min(to.size(), line_.size() - at_);
        std::copy_n(line_.begin() + static_cast<std::ptrdiff_t>(at_), count, to.begin());
        at_ += count;
        return {count, count == 0};
    }

private:
    std::vector<std::uint8_t> line_;
    std::size_t at_ = 0;
};

constexpr std::string_view gdb = "gdb:", file = "file:";

}  // namespace

bool is_memory(const std::string& uri, const MemoryOptions& options) {
    const bool is_gdb = uri.starts_with(gdb), is_file = uri.starts_with(file);
    if (options.base && !is_file) throw Error("--memory-base is for file: only", Exit::usage);
    if (options.resume && !is_gdb) throw Error("--resume is for gdb: only", Exit::usage);
    return is_gdb || (is_file && (options.base || is_core_dump(uri.substr(file.size()))));
}

std::unique_ptr<Source> open_memory_source(const std::string& uri, const std::string& image,
                                           const MemoryOptions& options,
                                           const std::function<void(const std::string&)>& say) {
    if (image.empty()) {
        throw Error(uri + " is memory: --image is needed: the ELF says where the rings are",
                    Exit::usage);
    }
    const ElfFile elf = ElfFile::open(image);
    const auto memory = uri.starts_with(gdb)
                            ? open_gdb(uri.substr(gdb.size()), options.resume)
                            : open_memory_file(uri.substr(file.size()), options.base);
    const auto release = [&] {
        if (const std::string sentence = memory->release(); !sentence.empty()) say(sentence);
    };
    Pulled pulled;
    try {
        pulled = pull_rings(*memory, elf);
    } catch (const Error&) {
        try {
            release();
        } catch (const Error&) {  // the caller sees the first error
        }
        throw;
    }
    release();
    if (pulled.refused != 0) {
        say(fmt::format(
            "{} records in the rings make no sense, and are left out: were they written over?",
            with_commas(pulled.refused)));
    }
    if (pulled.left_out != 0) {
        say(
            fmt::format("the rings hold more than {} MB: their {} oldest records are left out, and "
                        "count as overwritten",
                        most_ring_bytes >> 20, with_commas(pulled.left_out)));
    }
    return std::make_unique<PulledLine>(std::move(pulled.line));
}

}  // namespace nopscope::host
