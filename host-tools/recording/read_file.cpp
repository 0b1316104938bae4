// SPDX-License-Identifier: Apache-2.0
#include "host-tools/recording/read_file.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <memory>

#include "host-tools/base/file.hpp"

namespace nopscope::host::nsc {

Result<void> read_file(Reader& reader, const std::string& path, SessionSink& sink,
                       const ReadSoFar& read_so_far) {
    const auto close = [](std::FILE* file) { std::fclose(file); };
    const bool standard_input = path == "-";
    const std::unique_ptr<std::FILE, decltype(close)> file(
        standard_input ? nullptr : std::fopen(path.c_str(), "rb"), close);
    if (!standard_input && !file) {
        return failure("cannot open " + path + ": " + system_error(errno));
    }
    std::FILE* from = standard_input ? stdin : file.get();
    struct stat about {};
    const std::uint64_t total = fstat(fileno(from), &about) == 0 && S_ISREG(about.st_mode)
                                    ? static_cast<std::uint64_t>(about.st_size)
                                    : 0;
    std::uint64_t bytes = 0;
    int error = 0;
    const Result<void> result = reader.read(
        [&](std::span<std::uint8_t> to) {
            const std::size_t got = std::fread(to.data(), 1, to.size(), from);
            if (got == 0 && std::ferror(from) != 0) error = errno;
            bytes += got;
            if (read_so_far) read_so_far(bytes, total);
            return got;
        },
        sink);
    if (error != 0) return failure("cannot read " + path + ": " + system_error(error));
    return result;
}

}  // namespace nopscope::host::nsc
