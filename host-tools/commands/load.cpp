// SPDX-License-Identifier: Apache-2.0
#include "host-tools/commands/load.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace nopscope {

Loaded load(const ReportOptions& options, bool durations) {
    Loaded loaded;
    if (durations) loaded.profile->count_durations();
    nsc::Reader file;
    file.read_file(options.file, *loaded.profile);
    std::optional<Symbols> symbols = file.symbols();
    if (!options.image.empty()) symbols = read_symbols(ElfFile::open(options.image));
    try {
        loaded.report =
            make_report(*loaded.profile, file.counters(), symbols ? &*symbols : nullptr,
                        options.raw);
    } catch (const Error& error) {
        throw Error(options.file + ": " + error.what(), error.code());
    }
    if (!symbols) {
        fmt::print(stderr, "nopscope: {} carries no symbols: give --image ELF for names\n",
                   options.file);
    }
    if (const auto others = file.counters().stream.other_image_sessions; others != 0) {
        fmt::print(stderr,
                   "nopscope: the target was reset into another image {} times; only the "
                   "first image's sessions are reported\n",
                   others);
    }
    return loaded;
}

}  // namespace nopscope
