// SPDX-License-Identifier: Apache-2.0
// Reads a source file that an image's DWARF names. The name is outside data, and others may see the
// text. So only regular text files are read, with a source file's name and size. A relative name
// (from -ffile-prefix-map) is searched in `roots`, in order, and cannot lead above them. A root
// "PREFIX=DIRECTORY" replaces a prefix, and is only for names that begin with "PREFIX/". Names and
// prefixes of Windows may have either separator, and any case.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nopscope::host {

struct SourceText {
    static constexpr std::size_t max_bytes = std::size_t{4} << 20;

    std::vector<std::string> lines;  // without line ends
    std::string refusal;             // why there are no lines; empty: they are here
    std::int64_t modified = 0;       // seconds of the system's clock
};

// A name in DWARF as a path: "C:/proj/src/x.c" for `C:\proj\build/..\src\x.c`. A name without
// anything of Windows stays as it is.
std::string source_path(std::string_view name);

SourceText read_source_text(const std::string& name, const std::vector<std::string>& roots);

}  // namespace nopscope::host
