// SPDX-License-Identifier: Apache-2.0
// `report` and `graph`: read a recording, name it, print it.
#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "host-tools/commands/commands.hpp"

namespace nopscope {
namespace {

struct Loaded {
    std::unique_ptr<Profile> profile = std::make_unique<Profile>();
    Report report;
};

Loaded load(const ReportOptions& options) {
    Loaded loaded;
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

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

}  // namespace

Exit report(const ReportOptions& options) {
    Loaded loaded = load(options);
    sort_rows(loaded.report.functions, options.sort, options.top, options.raw);
    sort_rows(loaded.report.profile, options.sort, options.top, options.raw);
    sort_rows(loaded.report.samples.functions, options.sort, options.top);
    loaded.report.sort = options.sort;
    loaded.report.top = options.top;
    switch (options.format) {
    case Format::text:
        print(text_report(loaded.report));
        break;
    case Format::json:
        print(json_report(loaded.report));
        break;
    case Format::csv:
        print(csv_report(loaded.report));
        break;
    }
    return Exit::ok;
}

Exit graph(const ReportOptions& options) {
    const Loaded loaded = load(options);
    print(options.format == Format::json
              ? json_graph(loaded.report, *loaded.profile, options.graph)
              : text_graph(loaded.report, *loaded.profile, options.graph));
    return Exit::ok;
}

}  // namespace nopscope
