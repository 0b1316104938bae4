// SPDX-License-Identifier: Apache-2.0
// make_seeds D: makes the fuzzers' first inputs in D/{line,nsc,elf,codec,command,export,memory}.
#include <filesystem>
#include <fstream>
#include <span>

#include "host-tools/recording/journal.hpp"
#include "tests/unit/host/elf_builder.hpp"
#include "tests/unit/host/hello_2.hpp"
#include "tests/unit/host/target_stream.hpp"
#include "tests/verification/fuzz/frames.hpp"
#include "tracer/protocol/profile.hpp"

namespace {

using namespace nopscope::host;
using test::Bytes, test::TargetStream;
namespace fs = std::filesystem;
namespace protocol = nopscope::protocol;

template <typename From>
void append(Bytes& to, const From& bytes) {
    for (const auto byte : bytes) to.push_back(static_cast<std::uint8_t>(byte));
}
void append(Bytes& to, std::initializer_list<unsigned> bytes) {
    append<std::initializer_list<unsigned>>(to, bytes);
}

void write(const fs::path& path, const Bytes& bytes) {
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<long>(bytes.size()));
}
// With a byte for the fuzzer before them.
void write(const fs::path& path, std::uint8_t first, Bytes bytes) {
    bytes.insert(bytes.begin(), first);
    write(path, bytes);
}

void profile(TargetStream& target, const protocol::ProfileHeader& header) {
    protocol::ProfileWriter out(target.payload());
    for (std::uint32_t site = 1; site < 4; ++site) {
        out.put(8 * site, 100 * site, -1, 7, 90,
                [&](unsigned bin) { return bin % 9 == site ? bin : 0; });
    }
    target.frame(protocol::Stream::profile, 0, out.finish(header));
}

TargetStream recording() {
    TargetStream target;
    target.records_per_frame = 9;
    target.cores = 2;
    target.hello();
    target.console("hello\n");
    for (int i = 0; i < 4; ++i) {
        const auto a = target.entry(1, 10, i % 2);
        target.ret(target.entry(2, 10, i % 2), 5, i % 2, i == 2);
        target.call(3, 1, i % 2);
        target.tracer(50);
        target.ret(a, 7, i % 2);
        target.argument(protocol::Extended::context, i);
        target.left(static_cast<protocol::Left>(i));
        target.task_fact(static_cast<protocol::TaskFact>(2 + i), 1);
        target.argument(protocol::Extended::marker, 9);
    }
    target.tasks(protocol::TaskFacts{.number = 1,
                                     .core = 1,
                                     .flags = protocol::runs_interrupts,
                                     .priority = 3,
                                     .id = 0x40000000,
                                     .stack_low = 0x40100000,
                                     .stack_bytes = 4096,
                                     .stack_used = 300,
                                     .name = target.task_name("idle")},
                 protocol::ObjectName{.id = 1, .name = target.task_name("mutex")});
    profile(target, {1, 0, false, 9});
    profile(target, {1, 1, true, 9});
    target.finish();
    target.reset();
    target.hello();
    target.entry(1);
    target.drop(3);
    target.stats(false);
    return target;
}

// Hellos of formats 3 and 2 with all that they can say.
TargetStream hellos() {
    TargetStream target;
    const Bytes text{'t', 'e', 'x', 't'};
    protocol::Hello hello;
    hello.clock_hz = 1'000'000;
    hello.recovered = true;
    for (protocol::Text* each : {&hello.build_id, &hello.board, &hello.image})
        each->assign(text.data(), text.data() + 4);
    hello.line_bytes_per_second = 300'000;
    hello.clock = protocol::Clock::cycles;
    hello.calibrated = true;
    hello.overheads[1] = {-300, 5000};
    hello.event_costs = {true, 30, 54, 60, 55, 65};
    hello.refused_sites = {true, 819, 2, 300};
    hello.sequences_from = 4096;
    target.frame(protocol::Stream::hello, 0, protocol::write_hello(hello, target.payload()));
    target.reset();
    target.frame(protocol::Stream::hello, 0, test::write_hello_2(hello, target.payload()));
    return target;
}

// The frames of a line in the form that frames.hpp seals.
Bytes described(const TargetStream& target) {
    Bytes result;
    std::size_t begin = 0;
    std::uint16_t session = 0;
    for (const std::size_t end : target.frame_ends) {
        Bytes chunk(target.bytes.begin() + static_cast<long>(begin),
                    target.bytes.begin() + static_cast<long>(end) - 1);
        begin = end;
        const auto frame = protocol::parse_frame(chunk.data(), chunk.size());
        if (!frame.ok || frame.payload_bytes > 255) continue;
        const bool is_new = session != 0 && frame.header.session != session;
        session = frame.header.session;
        append(result, {fuzz::description_of(frame.header.stream) | (is_new ? 0x20u : 0u),
                        frame.header.core, static_cast<unsigned>(frame.payload_bytes)});
        append(result, std::span(frame.payload, frame.payload_bytes));
    }
    return result;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    const fs::path root = argv[1];
    const auto target = recording();
    write(root / "line" / "raw", 0, target.bytes);
    write(root / "line" / "described", 1, described(target));
    write(root / "line" / "hellos", 1, described(hellos()));

    for (std::uint8_t format = 0; format < 13; ++format) {
        const std::string names = "main\n<b>&\"x'\n</script>";
        Bytes bytes{format, static_cast<std::uint8_t>(names.size())};
        append(bytes, names);
        append(bytes, described(target));
        write(root / "export" / std::to_string(format), 1, bytes);
    }

    Bytes calls;
    // Three entries and their returns.
    for (unsigned i = 0; i < 60; ++i)
        append(calls, {i % 6 < 3 ? 1u : 2u, i % 6 < 3 ? i % 3 : 2 * (i % 3), 0, 7 + i % 2});
    write(root / "codec" / "described", 1, calls);
    Bytes data;
    // A duration, an argument or a result, then its site, then a value of any size.
    for (unsigned i = 0; i < 40; ++i) {
        append(data, {3, 6 + i % 3, 0, 9, 3, 16 * (i % 5) + 15, 0, 0, 3 + 16 * (i % 8), 16 * i + 15,
                      5 * i, 0});
    }
    write(root / "codec" / "data", 1, data);

    // A ping, a selection, its apply, a mark, the same again, and a rate; for 100 sites.
    write(root / "command" / "described", 1,
          {100, 0, 8, 0, 8, 9, 0, 9, 9, 4, 10, 5, 1, 2, 11,  9, 3, 2,
           1,   7, 5, 9, 1, 3, 5, 8, 1, 3, 18, 9, 4, 0, 194, 1, 0});

    test::ElfBuilder elf;
    for (int i = 0; i < 3; ++i) {
        const auto address = elf.function("_ZN1a" + std::to_string(i) + "fEv", true, i % 2 == 0);
        elf.data_word(address);
    }
    elf.symbol("$x", elf.text_base, 0, 0, true);
    write(root / "elf" / "image", elf.build());

    // Two cores, one lap, one changed word; calls of a site and their returns.
    Bytes ring{4 | 16, 1, 1, 2, 0, 8, 0, 0, 0, 0, 0, 0, 0};
    for (std::uint32_t slot = 0; slot < 64; ++slot) {
        const auto kind = slot % 2 == 0 ? protocol::Kind::entry : protocol::Kind::ret;
        const std::uint64_t payload =
            slot % 2 == 0 ? (elf.text_base + 8) / 8 + 1 : std::uint64_t{slot} << 1;
        const std::uint64_t word =
            payload << 35 | static_cast<std::uint64_t>(kind) << 32 | 3 * slot;
        append(ring, std::span(reinterpret_cast<const std::uint8_t*>(&word), sizeof word));
    }
    write(root / "memory" / "ring", ring);
    ring[0] |= 8;
    write(root / "memory" / "endless", ring);

    const fs::path file = root / "nsc" / "file";
    fs::create_directories(file.parent_path());
    Symbols symbols;
    symbols.origin = "a.elf";
    symbols.build_id = "id";
    symbols.sites = {{0x40080008, 4, "f", "f.c", 1}, {0x40080018, 4, "g", "", 0}};
    {
        nsc::Writer writer(file, {.source = "-", .tool = "t", .started_unix_ns = 1});
        writer.symbols(symbols);
        nsc::Journal journal(writer);
        SessionReader reader(journal);
        reader.feed(target.bytes);
        reader.finish();
        journal.flush(reader.line(), reader.counters(), 2);
        writer.end({});
    }
    std::ifstream in(file, std::ios::binary);
    write(file, 0, Bytes(std::istreambuf_iterator<char>(in), {}));
    // A session and a block: an entry and its return.
    Bytes description{2, 15, 1, 7, 0, 1, 100, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0};
    const Bytes block{1, 0, 0, 0, 0, 5, 2, 0, 0, 0, 1, 9, 0, 2, 0, 1, 4};
    append(description, {3, static_cast<unsigned>(block.size())});
    append(description, block);
    write(root / "nsc" / "described", 1, description);
    return 0;
}
