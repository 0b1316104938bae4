// SPDX-License-Identifier: Apache-2.0
// nopscope-report-bench: converts a call trace (docs/codec.md has its form) to the recording that
// `nopscope record` would make of it.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "host-tools/base/error.hpp"
#include "host-tools/base/file.hpp"
#include "host-tools/base/run_main.hpp"
#include "host-tools/bench/codec/ev13.hpp"
#include "host-tools/recording/journal.hpp"

namespace {

using namespace nopscope;
using namespace nopscope::host;

constexpr std::uint64_t text_base = 0x400000;

struct Options {
    std::string trace;
    std::string names;
    std::string recording;
    std::uint64_t tick_hz = 54'000'000;
};

// Reads lines of "id address name [file [alias...]]". A function id without a name has no symbol.
Symbols read_names(const std::string& path) {
    Symbols symbols;
    symbols.origin = path;
    std::ifstream file(path);
    std::map<std::uint32_t, Function> functions;
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::uint32_t id = 0;
        std::string address;
        Function function{.size = 8, .name = {}, .file = {}};
        if (!(words >> id >> address >> function.name)) continue;
        words >> function.file;
        for (std::string alias; words >> alias;) function.aliases.push_back(alias);
        function.address = text_base + std::uint64_t{id} * 8;
        functions[id] = std::move(function);
    }
    for (auto& [id, function] : functions) symbols.sites.push_back(std::move(function));
    return symbols;
}

void write_recording(const Options& options, std::span<const std::uint8_t> bytes,
                     const Symbols& symbols) {
    Ev13 trace(bytes, options.tick_hz);
    nsc::Writer file(
        options.recording,
        {.source = options.trace, .tool = "nopscope-report-bench", .started_unix_ns = 0});
    if (!symbols.sites.empty()) file.symbols(symbols);
    nsc::Journal journal(file);
    protocol::Hello hello;
    hello.clock_hz = options.tick_hz;
    hello.text_base = text_base;
    hello.site_count = static_cast<std::uint32_t>(symbols.sites.size());
    protocol::Byte payload[64];
    journal.on_session(*read_hello_info({payload, protocol::write_hello(hello, payload)}, 1));
    TraceBatch batch;
    for (;;) {
        batch.records = trace.next();
        if (batch.records.empty()) break;
        journal.on_trace(0, batch);
        batch.first_index += batch.records.size();
    }
    LineCounters line;
    line.bytes = 1;
    StreamCounters stream;
    stream.generated = stream.delivered = batch.first_index;
    stream.sessions = 1;
    stream.complete = true;
    journal.flush(line, stream, 0);
    file.end({.reason = nsc::EndReason::target_finished, .exit_status = -1, .line_bytes = 0});
    fmt::print("{}: {:.4f} bytes an event\n", options.recording,
               static_cast<double>(std::filesystem::file_size(options.recording)) /
                   static_cast<double>(trace.events()));
}

int run(int argc, char** argv) {
    CLI::App app("nopscope-report-bench: a call trace as a recording");
    Options options;
    app.add_option("file", options.trace, "Records of 13 bytes: u8 type, u32 function, u64 ns")
        ->required();
    app.add_option("--tick-hz", options.tick_hz, "The target's clock")
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{10'000'000'000}));
    app.add_option("--names", options.names, "Lines of: function id, address, name");
    app.add_option("--nsc", options.recording, "The recording to write")->required();
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : static_cast<int>(Exit::usage);
    }
    const auto bytes = read_whole_file(options.trace);
    const Symbols symbols = read_names(options.names);
    write_recording(options, bytes, symbols);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    return nopscope::host::run_main("nopscope-report-bench", run, argc, argv);
}
