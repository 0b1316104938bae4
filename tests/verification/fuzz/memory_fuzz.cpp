// SPDX-License-Identifier: Apache-2.0
// Rings in a target's memory, of any content: one sentence, or a line with correct sums.
//
//     shape u8     bits 0..1 log2 of a ring's bytes, less 13; bit 2: two cores; bit 3: the rings'
//                  memory repeats the given bytes without end; bit 4: flight mode
//     laps u8      that the cursor has made
//     changes u8   their number; each: where u8 (bits 0..1: descriptor, hello, core, other core),
//                  offset u8 (times 8 in a core), a value of 8 bytes that is added there
//     then the ring, from its beginning
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "host-tools/base/error.hpp"
#include "host-tools/target/memory/pull.hpp"
#include "host-tools/target/stream/session.hpp"
#include "tests/unit/host/elf_builder.hpp"
#include "tracer/core/descriptor.hpp"
#include "tracer/protocol/bytes.hpp"

namespace {

using namespace nopscope;
using namespace nopscope::host;
using Bytes = std::vector<std::uint8_t>;

constexpr std::uint64_t descriptor_at = 0x40600000, hello_at = 0x40601000, cores_at = 0x40602000;
constexpr std::uint64_t rings_at = 0x50000000;

void must(bool condition) {
    if (!condition) std::abort();
}

const ElfFile& image() {
    static const ElfFile elf = [] {
        test::ElfBuilder builder;
        builder.function("leaf");
        builder.function("other");
        builder.symbol("nopscope_descriptor", descriptor_at, 1);
        return ElfFile(builder.build(), "fuzz.elf");
    }();
    return elf;
}

class Image final : public TargetMemory {
public:
    Bytes descriptor, hello, cores, ring;
    bool endless = false;

    void read(std::uint64_t address, std::span<std::uint8_t> to) override {
        for (const auto& [base, block] :
             {std::pair{descriptor_at, &descriptor}, {hello_at, &hello}, {cores_at, &cores}}) {
            if (address < base || address - base > block->size() ||
                to.size() > block->size() - (address - base))
                continue;
            std::copy_n(block->begin() + static_cast<std::ptrdiff_t>(address - base), to.size(),
                        to.begin());
            return;
        }
        bytes_read_ += to.size();
        if (address < rings_at || ring.empty() || bytes_read_ > most_bytes_read)
            throw Error("no memory");
        for (std::size_t i = 0; i < to.size(); ++i) {
            const std::uint64_t at = address - rings_at + i;
            if (at >= ring.size() && !endless) throw Error("no memory");
            to[i] = ring[at % ring.size()];
        }
    }

private:
    static constexpr std::size_t most_bytes_read = std::size_t{1} << 21;  // of rings
    std::size_t bytes_read_ = 0;
};

template <typename T>
Bytes bytes_of(const T& value) {
    Bytes bytes(sizeof value);
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
}

void add(Bytes& to, std::size_t offset, std::uint64_t value) {
    if (to.size() < 8) return;
    std::uint8_t* const at = to.data() + offset % (to.size() - 7);
    std::uint64_t there = 0;
    std::memcpy(&there, at, sizeof there);
    there += value;
    std::memcpy(at, &there, sizeof there);
}

void describe(protocol::Reader in, Image& memory) {
    const auto shape = in.fixed<std::uint8_t>();
    const auto laps = in.fixed<std::uint8_t>();
    const unsigned log2 = 13 + (shape & 3);
    const std::uint64_t ring_size = std::uint64_t{1} << log2;
    protocol::Hello hello;
    hello.clock_hz = 1'000'000;
    hello.text_base = test::ElfBuilder::text_base;
    hello.site_count = 2;
    hello.cores = (shape & 4) != 0 ? 2 : 1;
    protocol::Byte payload[protocol::max_hello_bytes];
    const std::size_t hello_bytes = write_hello(hello, payload);
    memory.hello.assign(payload, payload + hello_bytes);
    Descriptor descriptor = describe_cores(reinterpret_cast<const Core*>(cores_at),
                                           reinterpret_cast<const void*>(rings_at), ring_size,
                                           reinterpret_cast<const void*>(hello_at));
    descriptor.ring_log2 = log2;
    descriptor.ready = 1;
    descriptor.session = 7;
    descriptor.hello_bytes = static_cast<std::uint32_t>(hello_bytes);
    memory.descriptor = bytes_of(descriptor);
    Core core{};
    core.cursor = ring_size * (1u + laps) + ring_size / 2;
    core.seen = core.cursor;
    core.flight = shape >> 4 & 1;
    for (unsigned n = 0; n < hello.cores; ++n) {
        const Bytes one = bytes_of(core);
        memory.cores.insert(memory.cores.end(), one.begin(), one.end());
    }
    memory.endless = (shape & 8) != 0;
    for (unsigned changes = in.fixed<std::uint8_t>(); changes != 0 && in.left() >= 10; --changes) {
        const auto where = in.fixed<std::uint8_t>() & 3;
        const std::size_t offset = in.fixed<std::uint8_t>();
        const auto value = in.fixed<std::uint64_t>();
        if (where < 2) {
            add(where == 0 ? memory.descriptor : memory.hello, offset, value);
        } else {
            add(memory.cores, 8 * offset + (where == 3 ? sizeof core : 0), value);
        }
    }
    const std::size_t count = in.left();
    const auto* const ring = in.bytes(count);
    memory.ring.assign(ring, ring + count);
    if (!memory.endless) memory.ring.resize(hello.cores * ring_size);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 3) return 0;
    Image memory;
    describe({data, size}, memory);
    Pulled pulled;
    try {
        pulled = pull_rings(memory, image());
    } catch (const Error& error) {
        must(std::strlen(error.what()) != 0);
        return 0;
    }
    struct Nothing final : SessionSink {
        void on_trace(unsigned, const TraceBatch&) override {}
    } nothing;
    SessionReader reader(nothing);
    reader.feed(pulled.line);
    reader.finish();
    must(reader.line().corrupt_frames == 0);
    const StreamCounters& sum = reader.counters();
    must(sum.generated ==
         sum.delivered + sum.dropped + sum.overwritten + sum.aggregated + sum.filtered + sum.lost);
    return 0;
}
