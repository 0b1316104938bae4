// SPDX-License-Identifier: Apache-2.0
// Rings in a target's memory, of any content: one sentence, or a line with correct sums.
//     shape u8     bits 0..1 log2 of a ring's bytes, less 13; bit 2: two cores; bit 3: the rings'
//                  memory repeats the given bytes without end; bit 4: flight mode
//     laps u8      that the cursor has made
//     changes u8   their number; each: where u8 (bits 0..1: descriptor, hello, core, other core),
//                  offset u8 (times 8 in a core), a value of 8 bytes that is added there
//     then the ring, from its beginning
#include <cstring>

#include "tests/unit/memory/fake_target.hpp"
#include "tests/verification/fuzz/must.hpp"

namespace {

using namespace nopscope;
using namespace nopscope::host;
using test::Bytes;

void add(Bytes& to, std::size_t offset, std::uint64_t value) {
    if (to.size() < 8) return;
    std::uint8_t* const at = to.data() + offset % (to.size() - 7);
    std::uint64_t there = 0;
    std::memcpy(&there, at, sizeof there);
    there += value;
    std::memcpy(at, &there, sizeof there);
}

void describe(protocol::Reader in, unsigned shape, test::FakeTarget& target) {
    const auto laps = in.fixed<std::uint8_t>();
    target.hello.cores = (shape & 4) != 0 ? 2 : 1;
    const std::uint64_t ring_size = target.core.cursor;
    target.core.cursor = ring_size * (1u + laps) + ring_size / 2;
    target.core.seen = target.core.cursor;
    target.core.doubled_from = 0;
    target.core.flight = shape >> 4 & 1;
    target.lay_out();
    auto& blocks = target.memory.blocks;
    for (unsigned changes = in.fixed<std::uint8_t>(); changes != 0 && in.left() >= 10; --changes) {
        const auto where = in.fixed<std::uint8_t>() & 3;
        const std::size_t offset = in.fixed<std::uint8_t>();
        const auto value = in.fixed<std::uint64_t>();
        if (where < 2)
            add(blocks[where == 0 ? test::descriptor_at : test::hello_at], offset, value);
        else
            add(blocks[test::cores_at], 8 * offset + (where == 3 ? sizeof(Core) : 0), value);
    }
    const std::size_t count = in.left();
    const auto* const given = in.bytes(count);
    Bytes ring(given, given + count);
    if ((shape & 8) != 0) {
        target.memory.repeated = ring;
    } else {
        ring.resize(target.hello.cores * (ring_size + 4096));
        blocks[test::rings_at] = ring;
    }
    target.memory.most_repeated = std::size_t{1} << 21;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 3) return 0;
    test::FakeTarget target(13 + (data[0] & 3));
    describe({data + 1, size - 1}, data[0], target);
    Pulled pulled;
    try {
        pulled = pull_rings(target.memory, *target.elf);
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
    must(test::adds_up(reader.counters()));
    return 0;
}
