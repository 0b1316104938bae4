// SPDX-License-Identifier: Apache-2.0
#include "host-tools/base/file.hpp"

#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

#include "host-tools/base/error.hpp"

namespace nopscope {

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
    }
    if (std::ferror(file.get()) != 0) {
        throw Error("cannot read " + path + ": " + system_error(errno));
    }
    bytes.resize(size);
    return bytes;
}

}  // namespace nopscope
