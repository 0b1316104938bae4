// SPDX-License-Identifier: Apache-2.0
#include "host-tools/elf/names.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>

#include "host-tools/commands/commands.hpp"

namespace nopscope {

Exit names(const NamesOptions& options) {
    const std::string source = name_table_source(ElfFile::open(options.image));
    if (options.output.empty()) {
        fmt::print("{}", source);
        return Exit::ok;
    }
    std::ofstream file(options.output, std::ios::binary);
    file << source << std::flush;
    if (!file) throw Error("cannot write " + options.output);
    return Exit::ok;
}

}  // namespace nopscope
