// SPDX-License-Identifier: Apache-2.0
#include "host-tools/commands/load.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace nopscope {

void say_what_is_amiss(const std::string& file, bool has_symbols, const nsc::Counters& counters) {
    if (!has_symbols) {
        fmt::print(stderr, "nopscope: {} carries no symbols: give --image ELF for names\n", file);
    }
    if (const auto others = counters.stream.other_image_sessions; others != 0) {
        fmt::print(stderr,
                   "nopscope: the target was reset into another image {} times; only the "
                   "first image's sessions are reported\n",
                   others);
    }
}

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
    say_what_is_amiss(options.file, symbols.has_value(), file.counters());
    return loaded;
}

}  // namespace nopscope
