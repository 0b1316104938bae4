// SPDX-License-Identifier: Apache-2.0
// Where functions were defined, from DWARF.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

namespace nopscope {

struct SourcePlace {
    std::string file;  // empty: unknown
    std::uint32_t line = 0;
};

// Reads the whole file's DWARF once. A file without any is not an error.
class SourceLines {
public:
    explicit SourceLines(const std::string& path);

    // Of the function that begins at this link-time address.
    SourcePlace at(std::uint64_t address) const;

private:
    std::unordered_map<std::uint64_t, SourcePlace> places_;
};

}  // namespace nopscope
