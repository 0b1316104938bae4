// SPDX-License-Identifier: Apache-2.0
// The files that tests write and read.
#pragma once

#include <zlib.h>

#include "host-tools/base/file.hpp"
#include "tests/unit/host/prelude.hpp"

namespace nopscope::host::test {

inline std::string text_of(const std::string& path) {
    const auto bytes = read_whole_file(path);
    return {bytes.begin(), bytes.end()};
}

// The bytes of a file, which may be compressed.
inline std::string gunzipped(const fs::path& path) {
    const gzFile file = gzopen(path.c_str(), "rb");
    std::string text;
    char bytes[4096];
    int count = 0;
    while ((count = gzread(file, bytes, sizeof bytes)) > 0)
        text.append(bytes, static_cast<std::size_t>(count));
    EXPECT_EQ(count, 0) << path;
    EXPECT_EQ(gzclose(file), Z_OK) << path;
    return text;
}

inline std::span<const std::uint8_t> bytes_of(std::string_view text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

inline void write_file(const std::string& path, std::span<const std::uint8_t> bytes) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
}

// Compares `found` with the file in tests/conformance. UPDATE_GOLDEN=1 updates the file.
inline void expect_golden(const std::string& name, const std::string& found) {
    const std::string path = std::string(NOPSCOPE_GOLDEN) + "/" + name;
    if (std::getenv("UPDATE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << found;
    EXPECT_EQ(found, text_of(path)) << path;
}

}  // namespace nopscope::host::test
