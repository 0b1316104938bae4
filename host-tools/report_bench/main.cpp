// SPDX-License-Identifier: Apache-2.0
// nopscope-report-bench: a call trace (docs/codec.md has the form) as the recording that
// `nopscope record` would have made of it, and as a directory that `uftrace report` reads.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "host-tools/base/error.hpp"
#include "host-tools/base/file.hpp"
#include "host-tools/base/run_main.hpp"
#include "host-tools/codec_bench/ev13.hpp"
#include "host-tools/nsc/journal.hpp"

namespace {

using namespace nopscope;

constexpr std::uint64_t text_base = 0x400000;

struct Options {
    std::string trace;
    std::string names;
    std::string recording;
    std::string uftrace;
    std::uint64_t tick_hz = 54'000'000;
};

// By function id: lines of "id address name"; ids without a name keep their number.
Symbols read_names(const std::string& path) {
    Symbols symbols;
    symbols.origin = path;
    std::ifstream file(path);
    std::map<std::uint32_t, std::string> names;
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::uint32_t id = 0;
        std::string address;
        std::string name;
        if (words >> id >> address >> name) names[id] = name;
    }
    for (const auto& [id, name] : names) {
        symbols.sites.push_back({text_base + std::uint64_t{id} * 8, 8, name, "", 0});
    }
    return symbols;
}

void write_recording(const Options& options, std::span<const std::uint8_t> bytes,
                     const Symbols& symbols) {
    Ev13 trace(bytes, options.tick_hz);
    nsc::Writer file(options.recording,
                     {.source = options.trace, .tool = "nopscope-report-bench", .started_unix_ns = 0});
    if (!symbols.sites.empty()) file.symbols(symbols);
    nsc::Journal journal(file);
    wire::Hello hello;
    hello.clock_hz = options.tick_hz;
    hello.text_base = text_base;
    wire::Byte payload[64];
    journal.on_session(*read_hello_info({payload, wire::write_hello(hello, payload)}, 1));
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

std::ofstream create(const std::filesystem::path& path) {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    if (!file) throw Error("cannot write " + path.string());
    return file;
}

// uftrace's directory: 16 bytes a record, nanoseconds and {type, magic 5, depth, address}.
void write_uftrace(const Options& options, std::span<const std::uint8_t> bytes,
                   const Symbols& symbols) {
    const std::filesystem::path dir(options.uftrace);
    std::filesystem::create_directories(dir);
    const std::string image = "/bench/program";
    constexpr unsigned task = 1;
    auto data = create(dir / fmt::format("{}.dat", task));
    std::uint64_t depth = 0;
    std::uint64_t last_ns = 1;
    for (std::size_t at = 0; at + ev13_bytes <= bytes.size(); at += ev13_bytes) {
        wire::Reader in(bytes.data() + at, ev13_bytes);
        const bool exit = in.fixed<std::uint8_t>() != 0;
        const std::uint64_t address = text_base + std::uint64_t{in.fixed<std::uint32_t>()} * 8;
        last_ns = in.fixed<std::uint64_t>();
        depth -= exit && depth != 0 ? 1 : 0;
        wire::Byte record[16];
        wire::Writer out(record);
        out.fixed(last_ns);
        out.fixed((exit ? 1u : 0u) | 5u << 3 | (depth & 0x3ff) << 6 | address << 16);
        depth += exit ? 0 : 1;
        data.write(reinterpret_cast<const char*>(record), sizeof record);
    }
    auto info = create(dir / "info");
    wire::Byte header[40] = {};
    wire::Writer out(header);
    out.bytes(reinterpret_cast<const wire::Byte*>("Ftrace!"), 8);
    out.fixed(std::uint32_t{4});
    out.fixed(std::uint16_t{sizeof header});
    out.fixed(std::uint8_t{1});  // little-endian
    out.fixed(std::uint8_t{2});  // 64 bits
    // Tasks and sessions, relative symbols, the largest depth; below: the program, the tasks.
    out.fixed(std::uint64_t{1u << 1 | 1u << 5 | 1u << 6});
    out.fixed(std::uint64_t{1u << 0 | 1u << 7});
    out.fixed(std::uint16_t{1024});
    info.write(reinterpret_cast<const char*>(header), sizeof header);
    info << fmt::format("exename:{}\ntaskinfo:lines=2\ntaskinfo:nr_tid=1\ntaskinfo:tids={}\n", image,
                        task);
    const std::string session = "0123456789abcdef";
    create(dir / "task.txt") << fmt::format(
        "SESS timestamp=0.000000001 pid={0} sid={1} exename=\"{2}\"\n"
        "TASK timestamp=0.000000001 tid={0} pid={0}\n",
        task, session, image);
    create(dir / ("sid-" + session + ".map"))
        << fmt::format("{:012x}-{:012x} r-xp 00000000 00:00 0                          {}\n",
                       text_base, text_base + (std::uint64_t{1} << 24), image);
    auto names = create(dir / "program.sym");
    for (const Function& site : symbols.sites) {
        names << fmt::format("{:016x} T {}\n", site.address - text_base, site.name);
    }
    names << fmt::format("{:016x} ? __sym_end\n", std::uint64_t{1} << 24);
}

int run(int argc, char** argv) {
    CLI::App app("nopscope-report-bench: a call trace as a recording, and as uftrace's");
    Options options;
    app.add_option("file", options.trace, "Records of 13 bytes: u8 type, u32 function, u64 ns")
        ->required();
    app.add_option("--tick-hz", options.tick_hz, "The target's clock")
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{10'000'000'000}));
    app.add_option("--names", options.names, "Lines of: function id, address, name");
    app.add_option("--nsc", options.recording, "The recording to write");
    app.add_option("--uftrace", options.uftrace, "The directory to write for uftrace");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : static_cast<int>(Exit::usage);
    }
    const auto bytes = read_whole_file(options.trace);
    const Symbols symbols = read_names(options.names);
    if (!options.recording.empty()) write_recording(options, bytes, symbols);
    if (!options.uftrace.empty()) write_uftrace(options, bytes, symbols);
    return 0;
}

}  // namespace

int main(int argc, char** argv) { return nopscope::run_main("nopscope-report-bench", run, argc, argv); }
