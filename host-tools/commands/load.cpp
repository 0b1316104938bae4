// SPDX-License-Identifier: Apache-2.0
#include "host-tools/commands/load.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "host-tools/base/error.hpp"

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

Loaded load(const std::string& file, const std::string& image, bool raw) {
    Loaded loaded;
    nsc::Reader reader;
    reader.read_file(file, *loaded.profile);
    std::optional<Symbols> symbols = reader.symbols();
    if (!image.empty()) symbols = read_symbols(ElfFile::open(image));
    try {
        loaded.report = make_report(*loaded.profile, reader.counters(), symbols ? &*symbols : nullptr, raw);
    } catch (const Error& error) {
        throw Error(file + ": " + error.what(), error.code());
    }
    say_what_is_amiss(file, symbols.has_value(), reader.counters());
    return loaded;
}

}  // namespace nopscope
