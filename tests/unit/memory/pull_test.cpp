// SPDX-License-Identifier: Apache-2.0
// What a pull reads from the rings in a target's memory.
#include "tests/unit/host/error_of.hpp"
#include "tests/unit/host/prelude.hpp"
#include "tests/unit/host/told.hpp"
#include "tests/unit/memory/fake_target.hpp"

namespace nopscope::host::test::pull_test {

constexpr unsigned log2 = 13;
constexpr std::uint64_t bytes = 1 << log2, slots = bytes / 8;

struct Pull : ::testing::Test, FakeTarget {
    Pull() { seen(); }
    // The pump has seen all records so far.
    void seen() {
        core.seen = core.cursor;
        core.seen_clock = now;
    }
    void record(Kind kind, std::uint64_t payload) {
        const std::uint64_t lap = core.cursor >> (log2 - 2) & 0xffff'ffff;
        const std::uint64_t word =
            payload << 35 | static_cast<std::uint64_t>(kind) << 32 | (now & 0xffff'ffff);
        ring[core.cursor / 8 % slots] = word ^ lap << 32;
        core.cursor += 8;
        now += 3;
    }
    // As recorders store them: an entry has its body's address, a return a position.
    void entry(std::uint64_t function) { record(Kind::entry, (function & 0xffff'ffff) / 8 + 1); }
    void leave(std::uint64_t position) { record(Kind::ret, position / 8 << 1 & 0x1fff'ffff); }
    void calls(unsigned count) {
        for (unsigned i = 0; i < count; ++i) {
            const std::uint64_t position = core.cursor;
            entry(site);
            leave(position);
        }
    }
    void extended(Extended what, std::uint32_t argument) {
        record(Kind::extended, argument << 4 | unsigned(what));
    }

    Pulled pull() {
        lay_out();
        memory.put(rings_at, ring.data(), slots);
        return pull_rings(memory, *elf);
    }
    std::string refusal() {
        return error_of([&] { (void)pull(); }).what();
    }
    StreamCounters read(const Pulled& pulled) {
        told = {};
        SessionReader reader(told);
        reader.feed(pulled.line);
        reader.finish();
        EXPECT_EQ(reader.line().corrupt_frames, 0u);
        return reader.counters();
    }

    std::vector<std::uint64_t> ring = std::vector<std::uint64_t>(slots);
    std::uint64_t now = 5'000'000'000;  // more than 32 bits
    Told told;
};

TEST_F(Pull, ReadsAllThatTheRingHolds) {
    std::uint64_t made = 0;
    for (const unsigned more : {0u, 1u, 40u, 500u, 10'000u}) {
        seen();
        calls(more);
        made += 2 * more;
        const Pulled pulled = pull();
        const StreamCounters sum = read(pulled);
        const std::uint64_t held = std::min(made, slots);
        EXPECT_EQ(std::tuple(pulled.refused, sum.delivered, sum.overwritten, sum.generated,
                             sum.lost + sum.inconsistent),
                  std::tuple(0u, held, made - held, made, 0u));
        EXPECT_TRUE(sum.complete);
        if (made == 0) continue;
        const auto& records = told.records.begin()->second;
        std::uint64_t clock = now - 3 * held;
        for (const auto& [index, word, its] : records) {
            const protocol::Record one{word};
            ASSERT_EQ(its, clock);
            ASSERT_TRUE(index % 2 == 0 ? one.site_low() == site - ElfBuilder::text_base
                                       : one.entry_index() == index - 1);
            clock += 3;
        }
        EXPECT_EQ(std::get<0>(records.back()), made - 1);
    }
}

TEST_F(Pull, WordsThatCannotBeRecordsAreLeftOutAndCounted) {
    calls(100);
    entry(site + 8);            // no site is there
    extended(Extended(14), 7);  // no such kind
    const std::uint64_t hole = core.cursor;
    calls(1);
    ring[hole / 8 % slots] = 0;  // claimed, but not stored
    const Pulled pulled = pull();
    const StreamCounters sum = read(pulled);
    EXPECT_EQ(std::tuple(pulled.refused, sum.delivered, sum.overwritten, sum.generated, sum.lost),
              std::tuple(2u, 201u, 3u, 204u, 0u));
}

TEST_F(Pull, TheContextThatItBeginsIn) {
    for (const std::uint32_t next : {5u, 6u}) {
        calls(300);
        extended(Extended::context, next - 1);
        extended(Extended::context, next);
    }
    calls(300);
    core.last_context_recorded = 6;
    EXPECT_EQ(read(pull()).lost, 0u);
    // The rest begins in the second context.
    EXPECT_EQ(std::get<1>(told.gaps.begin()->second.front()), 5u);
    // Without doubled records, the context is known only from the first switch on.
    core.doubled_from = core.cursor;
    const StreamCounters less = read(pull());
    EXPECT_EQ(std::tuple(less.lost, less.delivered, less.overwritten + less.delivered),
              std::tuple(0u, 2u + 600u, less.generated));
    // Without any switch, it is the context that runs.
    calls(slots);
    EXPECT_EQ(read(pull()).delivered, slots);
    EXPECT_EQ(std::get<1>(told.gaps.begin()->second.front()), 6u);
}

// The rest of such a target's memory is as today.
TEST_F(Pull, ATargetOfFormat2IsPulledIntoALineOfThisFormat) {
    calls(10);
    hello.version = 2;
    hello.refused_sites = {true, 1, 2, 3};
    const Pulled pulled = pull();
    EXPECT_EQ(read(pulled).delivered, 20u);
    SessionReader reader(told);
    reader.feed(pulled.line);
    ASSERT_TRUE(reader.has_session());
    EXPECT_EQ(reader.hello().version, protocol::format_version);
    EXPECT_EQ(reader.hello().refused_sites.words, 3u);
}

TEST_F(Pull, MemoryThatCannotBeReadIsSaid) {
    calls(10);
    const auto said = [&](auto& field, std::uint64_t bad, const char* sentence) {
        const auto good = std::exchange(field, static_cast<std::decay_t<decltype(field)>>(bad));
        EXPECT_THAT(refusal(), HasSubstr(sentence)) << bad;
        field = good;
    };
    said(descriptor.ready, 0, "has not been initialised");
    said(hello.version, 77, "speaks trace format 77");
    for (const unsigned bad : {12u, 29u, 0xffff'ffffu})
        said(descriptor.ring_log2, bad, "makes no sense");
    said(hello.cores, 9, "hello");
    for (const std::uint64_t bad : {std::uint64_t{0}, bytes + 4, ~std::uint64_t{7}})
        said(core.cursor, bad, "the state of core 0's ring");
    said(core.seen, core.cursor - 12, "the state of core 0's ring");  // no slot begins there
    said(descriptor.magic, descriptor.magic ^ 1, "no tracer that this nopscope knows");
    said(memory.blocks[note_at].back(), 0xcd,
         "its build-id is aabbcc, there at 0x40300000 is aabbcd");
    EXPECT_EQ(refusal(), "");
    ElfBuilder bare;
    bare.function("leaf");
    elf.emplace(bare.build(), "bare.elf");
    EXPECT_THAT(refusal(), HasSubstr("bare.elf has no nopscope_descriptor"));
}

TEST_F(Pull, OneWrongBit) {
    calls(slots);
    core.seen = core.cursor - 8;
    const auto good_core = core;
    const auto good = descriptor;
    unsigned sessions = 0;
    const auto flip_each = [&](void* what, std::size_t size) {
        for (std::size_t bit = 0; bit < 8 * size; ++bit) {
            core = good_core;
            descriptor = good;
            static_cast<std::uint8_t*>(what)[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
            // The pull is refused, or the session's sums hold.
            const auto pulled = [&] { EXPECT_TRUE(adds_up(read(pull()))); };
            sessions += error_of(pulled).code() == Exit::ok;
        }
    };
    flip_each(&core, sizeof core);
    flip_each(&descriptor, sizeof descriptor);
    EXPECT_GT(sessions, 1000u);
}

// A few bytes that claim eight rings of 256 MB.
TEST_F(Pull, RingsLargerThanTheLimit) {
    constexpr std::uint64_t most = std::uint64_t{1} << 28;  // bytes in a ring
    core.cursor = 2 * most;
    core.seen = core.cursor;
    hello.cores = 8;
    descriptor.ring_log2 = 28;
    lay_out();
    memory.repeated = {0};
    const Pulled pulled = pull_rings(memory, *elf);
    EXPECT_EQ(pulled.left_out, 8 * most / 8 - most_ring_bytes / 8);
    EXPECT_LE(memory.most_at_once, std::size_t{1} << 20);
    EXPECT_EQ(read(pulled).overwritten, 8 * most / 8);
}

}  // namespace nopscope::host::test::pull_test
