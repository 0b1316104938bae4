// SPDX-License-Identifier: Apache-2.0
// nopscope-codec-bench: runs a call trace through the target's encoder and the host's decoder, or
// converts it to a recording.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "host-tools/base/error.hpp"
#include "host-tools/base/file.hpp"
#include "host-tools/base/run_main.hpp"
#include "host-tools/base/text.hpp"
#include "host-tools/bench/codec/rounds.hpp"
#include "host-tools/recording/journal.hpp"

namespace {

using namespace nopscope;
using namespace nopscope::host;

constexpr std::size_t decode_at_once = 1 << 16;

struct Figures {
    std::uint64_t events = 0;
    std::uint64_t entered_before = 0;
    std::uint64_t frames = 0;
    std::uint64_t key_frames = 0;
    std::uint64_t line_bytes = 0;
    Spending spending;
    double encode_seconds = 0;
    double decode_seconds = 0;

    double per_event(double what) const {
        return events == 0 ? 0 : what / static_cast<double>(events);
    }
    double meps(double seconds) const {
        return seconds > 0 ? static_cast<double>(events) / seconds / 1e6 : 0;
    }
};

// Measures processor time, because other programs run too.
template <typename Work>
auto timed(double& seconds, Work work) {
    const std::clock_t begin = std::clock();
    auto result = work();
    seconds += static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    return result;
}

// Paths of files to write; empty: none.
struct Copies {
    std::string line;     // the encoded line
    std::string records;  // the encoder's input, as firmware/bench/encode.cpp reads it
};

template <typename T>
void write(std::ofstream& file, std::span<const T> items) {
    file.write(reinterpret_cast<const char*>(items.data()),
               static_cast<std::streamsize>(items.size_bytes()));
}

Figures measure(const std::string& path, std::uint64_t tick_hz, bool meter_too,
                const Copies& copies) {
    const auto bytes = read_whole_file(path);
    Ev13 trace(bytes, tick_hz);
    Figures figures;
    figures.events = trace.events();
    figures.entered_before = trace.records() - trace.events();

    LineEncoder encoder;
    Meter meter;
    std::ofstream records_file;
    if (!copies.records.empty()) records_file.open(copies.records, std::ios::binary);
    for (;;) {
        const auto records = trace.next();
        if (records.empty()) break;
        timed(figures.encode_seconds, [&] { return encoder.feed(records), 0; });
        if (meter_too) meter.feed(records);
        if (records_file.is_open()) write(records_file, records);
    }
    timed(figures.encode_seconds, [&] { return encoder.finish(), 0; });
    figures.frames = encoder.frames();
    figures.key_frames = encoder.key_frames();
    figures.spending = meter.spending();

    std::vector<std::uint8_t> line = encoder.line();
    figures.line_bytes = line.size();
    if (!copies.line.empty()) {
        std::ofstream file(copies.line, std::ios::binary);
        write(file, std::span<const std::uint8_t>(line));
    }
    LineDecoder decoder(line);
    Ev13 again(bytes, tick_hz);
    std::span<const StampedRecord> expected;
    for (;;) {
        const auto records =
            timed(figures.decode_seconds, [&] { return decoder.next(decode_at_once); });
        for (const StampedRecord& each : records) {
            if (expected.empty()) expected = again.next();
            if (expected.empty() || expected[0].record.word != each.record.word ||
                expected[0].clock != each.clock)
                throw Error("what was decoded is not what was encoded", Exit::check_failed);
            expected = expected.subspan(1);
        }
        if (records.empty()) break;
    }
    if (!decoder.ok() || !expected.empty() || !again.next().empty())
        throw Error("the line cannot be decoded to its end", Exit::check_failed);
    return figures;
}

void print_json(const Figures& of, std::uint64_t tick_hz) {
    const nlohmann::ordered_json json{
        {"events", of.events},
        {"tick_hz", tick_hz},
        {"entered_before", of.entered_before},
        {"frames", of.frames},
        {"keyframes", of.key_frames},
        {"line_bytes", of.line_bytes},
        {"bytes_per_event", of.per_event(static_cast<double>(of.line_bytes))},
        {"identity_bits", of.per_event(of.spending.identity_bits)},
        {"time_bits", of.per_event(of.spending.time_bits)},
        {"decisions", of.per_event(static_cast<double>(of.spending.decisions))},
        {"encode_meps", of.meps(of.encode_seconds)},
        {"decode_meps", of.meps(of.decode_seconds)},
        {"exact", true},
    };
    fmt::print("{}\n", json.dump(2));
}

void print_text(const Figures& of, std::uint64_t tick_hz) {
    fmt::print("{} events at {:.6g} MHz, decoded exactly", with_commas(of.events),
               static_cast<double>(tick_hz) / 1e6);
    if (of.entered_before != 0) {
        fmt::print("; {} calls were entered before", with_commas(of.entered_before));
    }
    fmt::print("\n{} frames, {} of them key frames, {} bytes: {:.4f} bytes an event\n",
               with_commas(of.frames), with_commas(of.key_frames), with_commas(of.line_bytes),
               of.per_event(static_cast<double>(of.line_bytes)));
    fmt::print("{:.3f} bits of identity and {:.3f} of time in {:.2f} decisions an event\n",
               of.per_event(of.spending.identity_bits), of.per_event(of.spending.time_bits),
               of.per_event(static_cast<double>(of.spending.decisions)));
    fmt::print("million events a second: encoded {:.1f}, decoded {:.1f}\n",
               of.meps(of.encode_seconds), of.meps(of.decode_seconds));
}

constexpr std::uint64_t text_base = 0x400000;

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

// Makes the recording that `nopscope record` would make of the trace.
void write_recording(const std::string& path, std::uint64_t tick_hz, const std::string& names,
                     const std::string& recording) {
    const auto bytes = read_whole_file(path);
    const Symbols symbols = read_names(names);
    Ev13 trace(bytes, tick_hz);
    nsc::Writer file(recording,
                     {.source = path, .tool = "nopscope-codec-bench", .started_unix_ns = 0});
    if (!symbols.sites.empty()) file.symbols(symbols);
    nsc::Journal journal(file);
    protocol::Hello hello;
    hello.clock_hz = tick_hz;
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
    fmt::print("{}: {:.4f} bytes an event\n", recording,
               static_cast<double>(std::filesystem::file_size(recording)) /
                   static_cast<double>(trace.events()));
}

int run(int argc, char** argv) {
    CLI::App app(
        "nopscope-codec-bench: a call trace through the target's encoder and the host's decoder");
    std::string path;
    std::uint64_t tick_hz = 54'000'000;
    std::string format = "text";
    bool meter = true;
    app.add_option("file", path,
                   "Records of 13 bytes: u8 type, u32 function, u64 ns (docs/codec.md)")
        ->required();
    app.add_option("--tick-hz", tick_hz, "The target's clock")
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{10'000'000'000}));
    app.add_option("--format", format, "Output")->check(CLI::IsMember({"text", "json"}));
    app.add_flag("!--no-bits", meter,
                 "Do not measure what the bits are spent on, which takes longest");
    std::string names, recording;
    app.add_option("--nsc", recording, "Only make this recording of the trace");
    app.add_option("--names", names, "--nsc: lines of: function id, address, name");
    Copies copies;
    app.add_option("--write-line", copies.line, "What was encoded goes there")->group("");
    app.add_option("--write-records", copies.records, "What was made of the file goes there")
        ->group("");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : static_cast<int>(Exit::usage);
    }
    try {
        if (!recording.empty()) {
            write_recording(path, tick_hz, names, recording);
            return 0;
        }
        const Figures figures = measure(path, tick_hz, meter, copies);
        format == "json" ? print_json(figures, tick_hz) : print_text(figures, tick_hz);
    } catch (const Error& error) {
        throw Error(path + ": " + error.what(), error.code());
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    return nopscope::host::run_main("nopscope-codec-bench", run, argc, argv);
}
