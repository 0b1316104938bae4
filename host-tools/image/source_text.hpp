// SPDX-License-Identifier: Apache-2.0
// The text of a source file that an image's DWARF names. The name is outside data, and what is read may be shown to
// others: only regular files of text, with the name of a source file, and of a size that such a file has. A relative
// name (as -ffile-prefix-map makes them) is looked up in `roots`, in their order, and leads nowhere above them. A root
// "PREFIX=DIRECTORY" is for names that begin with "PREFIX/" alone, and stands in that one's place.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nopscope::host {

struct SourceText {
    static constexpr std::size_t max_bytes = std::size_t{4} << 20;

    std::vector<std::string> lines;  // without their ends
    std::string refusal;             // why there are none; empty: they are here
    std::int64_t modified = 0;       // seconds of the system's clock
};

SourceText read_source_text(const std::string& name, const std::vector<std::string>& roots);

}  // namespace nopscope::host
