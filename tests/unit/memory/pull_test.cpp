// SPDX-License-Identifier: Apache-2.0
// A ring, laid out as tracer/core/ring.hpp and docs/debugger.md say, and what a pull reads from it.
#include <gmock/gmock.h>

#include <cstring>
#include <map>
#include <random>

#include "host-tools/target/memory/pull.hpp"
#include "tests/unit/host/elf_builder.hpp"
#include "tests/unit/host/error_of.hpp"
#include "tests/unit/host/hello_2.hpp"
#include "tests/unit/host/told.hpp"
#include "tracer/core/descriptor.hpp"

namespace nopscope::host {
namespace {

using protocol::Kind;
using test::ElfBuilder;

constexpr unsigned log2 = 13;
constexpr std::uint64_t bytes = 1 << log2, slots = bytes / 8;
constexpr std::uint64_t note_at = 0x40300000, descriptor_at = 0x40600000, hello_at = 0x40601000;
constexpr std::uint64_t cores_at = 0x40602000, rings_at = 0x40610000;

class FakeMemory final : public TargetMemory {
public:
    void read(std::uint64_t address, std::span<std::uint8_t> to) override {
        for (const auto& [base, block] : blocks) {
            if (address >= base && address - base <= block.size() &&
                to.size() <= block.size() - (address - base)) {
                std::copy_n(block.begin() + static_cast<std::ptrdiff_t>(address - base), to.size(),
                            to.begin());
                return;
            }
        }
        throw Error("there is no memory at " + std::to_string(address));
    }
    template <typename T>
    void put(std::uint64_t address, const T& value) {
        auto& block = blocks[address];
        block.resize(sizeof value);
        std::memcpy(block.data(), &value, sizeof value);
    }
    std::map<std::uint64_t, std::vector<std::uint8_t>> blocks;
};

class Pull : public ::testing::Test {
protected:
    Pull() {
        site = builder.function("leaf");
        builder.function("other");
        builder.symbol("__build_id_note_start", note_at, 0);
        builder.symbol("nopscope_descriptor", descriptor_at, 1);
        elf.emplace(builder.build(), "fake.elf");
        auto& note = memory.blocks[note_at];
        const auto whole = elf->bytes_at(note_at, 16 + 3);
        note.assign(whole.begin(), whole.end());

        descriptor = describe_cores(reinterpret_cast<const Core*>(cores_at),
                                    reinterpret_cast<const void*>(rings_at), bytes + 4096,
                                    reinterpret_cast<const void*>(hello_at));
        descriptor.ring_log2 = log2;
        descriptor.ready = 1;
        descriptor.session = 0x1234;
        hello.clock_hz = 1'000'000;
        hello.text_base = ElfBuilder::text_base;
        hello.flight = true;
        hello.site_count = 2;
        core.cursor = bytes;
        core.flight = 1;
        core.doubled_from = bytes;
        ring.resize(slots);
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
    void extended(protocol::Extended what, std::uint32_t argument) {
        record(Kind::extended, argument << 4 | unsigned(what));
    }

    Pulled pull() {
        protocol::Byte payload[protocol::max_payload_bytes];
        descriptor.hello_bytes = static_cast<std::uint32_t>(
            hello.version == 2 ? test::write_hello_2(hello, payload) : write_hello(hello, payload));
        memory.blocks[hello_at].assign(payload, payload + descriptor.hello_bytes);
        memory.put(descriptor_at, descriptor);
        memory.put(cores_at, core);
        auto& block = memory.blocks[rings_at];
        block.resize(bytes);
        std::memcpy(block.data(), ring.data(), bytes);
        return pull_rings(memory, *elf);
    }
    std::string refusal() {
        return test::error_of([&] { (void)pull(); }).what();
    }
    StreamCounters read(const Pulled& pulled) {
        told = {};
        SessionReader reader(told);
        reader.feed(pulled.line);
        reader.finish();
        EXPECT_EQ(reader.line().corrupt_frames, 0u);
        return reader.counters();
    }
    // Returns false if the pull is refused. A session's sums must hold.
    bool pulls_a_session() {
        const auto check_sums = [&] {
            const StreamCounters sum = read(pull());
            EXPECT_EQ(sum.generated, sum.delivered + sum.dropped + sum.overwritten +
                                         sum.aggregated + sum.filtered + sum.lost);
        };
        return test::error_of(check_sums).code() == Exit::ok;
    }

    ElfBuilder builder;
    std::uint64_t site = 0;
    std::optional<ElfFile> elf;
    FakeMemory memory;
    Descriptor descriptor{};
    protocol::Hello hello;
    Core core{};
    std::vector<std::uint64_t> ring;
    std::uint64_t now = 5'000'000'000;  // more than 32 bits
    test::Told told;
};

TEST_F(Pull, ReadsAllThatTheRingHolds) {
    std::uint64_t made = 0;
    for (const unsigned more : {0u, 1u, 40u, 500u, 10'000u}) {
        core.seen = core.cursor;
        core.seen_clock = now;
        calls(more);
        made += 2 * more;
        const Pulled pulled = pull();
        const StreamCounters sum = read(pulled);
        const std::uint64_t held = std::min(made, slots);
        EXPECT_EQ(pulled.refused, 0u);
        EXPECT_EQ(sum.delivered, held);
        EXPECT_EQ(sum.overwritten, made - held);
        EXPECT_EQ(sum.generated, made);
        EXPECT_EQ(sum.lost + sum.inconsistent, 0u);
        EXPECT_TRUE(sum.complete);
        if (made == 0) continue;
        const auto& records = told.records.begin()->second;
        std::uint64_t clock = now - 3 * held;
        for (const auto& [index, word, its] : records) {
            const protocol::Record one{word};
            ASSERT_EQ(its, clock);
            if (index % 2 == 0) {
                ASSERT_EQ(one.site_low(), site - ElfBuilder::text_base);
            } else {
                ASSERT_EQ(one.entry_index(), index - 1);
            }
            clock += 3;
        }
        EXPECT_EQ(std::get<0>(records.back()), made - 1);
    }
}

TEST_F(Pull, WordsThatCannotBeRecordsAreLeftOutAndCounted) {
    core.seen = bytes;
    core.seen_clock = now;
    calls(100);
    entry(site + 8);                      // no site is there
    extended(protocol::Extended(14), 7);  // no such kind
    const std::uint64_t hole = core.cursor;
    calls(1);
    ring[hole / 8 % slots] = 0;  // claimed, but not stored
    const Pulled pulled = pull();
    const StreamCounters sum = read(pulled);
    EXPECT_EQ(pulled.refused, 2u);
    EXPECT_EQ(sum.delivered, 201u);
    EXPECT_EQ(sum.overwritten, 3u);
    EXPECT_EQ(sum.generated, 204u);
    EXPECT_EQ(sum.lost, 0u);
}

TEST_F(Pull, TheContextThatItBeginsIn) {
    core.seen_clock = now;
    core.seen = bytes;
    for (const std::uint32_t next : {5u, 6u}) {
        calls(300);
        extended(protocol::Extended::context, next - 1);
        extended(protocol::Extended::context, next);
    }
    calls(300);
    core.last_context_recorded = 6;
    EXPECT_EQ(read(pull()).lost, 0u);
    // The rest begins in the second context.
    EXPECT_EQ(std::get<1>(told.gaps.begin()->second.front()), 5u);
    // Without doubled records, the context is known only from the first switch on.
    core.doubled_from = core.cursor;
    const StreamCounters less = read(pull());
    EXPECT_EQ(less.lost, 0u);
    EXPECT_EQ(less.delivered, 2u + 600u);
    EXPECT_EQ(less.overwritten + less.delivered, less.generated);
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
    using ::testing::HasSubstr;
    calls(10);
    descriptor.ready = 0;
    EXPECT_THAT(refusal(), HasSubstr("has not been initialised"));
    descriptor.ready = 1;
    hello.version = 77;
    EXPECT_THAT(refusal(), HasSubstr("speaks trace format 77"));
    hello.version = protocol::format_version;
    for (const unsigned bad : {12u, 29u, 0xffff'ffffu}) {
        descriptor.ring_log2 = bad;
        EXPECT_THAT(refusal(), HasSubstr("makes no sense"));
    }
    descriptor.ring_log2 = log2;
    hello.cores = 9;
    EXPECT_THAT(refusal(), HasSubstr("hello"));
    hello.cores = 1;
    for (const std::uint64_t bad : {std::uint64_t{0}, bytes + 4, ~std::uint64_t{7}}) {
        const std::uint64_t good = std::exchange(core.cursor, bad);
        EXPECT_THAT(refusal(), HasSubstr("the state of core 0's ring"));
        core.cursor = good;
    }
    core.seen = core.cursor - 12;  // no slot begins there
    EXPECT_THAT(refusal(), HasSubstr("the state of core 0's ring"));
    core.seen = bytes;
    descriptor.magic ^= 1;
    EXPECT_THAT(refusal(), HasSubstr("no tracer that this nopscope knows"));
    descriptor.magic ^= 1;
    memory.blocks[note_at].back() ^= 1;
    EXPECT_THAT(refusal(), HasSubstr("its build-id is aabbcc, there at 0x40300000 is aabbcd"));
    memory.blocks[note_at].back() ^= 1;
    EXPECT_EQ(refusal(), "");
    ElfBuilder bare;
    bare.function("leaf");
    elf.emplace(bare.build(), "bare.elf");
    EXPECT_THAT(refusal(), HasSubstr("bare.elf has no nopscope_descriptor"));
}

// Flips each bit of a core's state and of the descriptor.
TEST_F(Pull, OneWrongBit) {
    core.seen_clock = now;
    core.seen = bytes;
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
            sessions += pulls_a_session();
        }
    };
    flip_each(&core, sizeof core);
    flip_each(&descriptor, sizeof descriptor);
    EXPECT_GT(sessions, 1000u);
}

// A few bytes that claim eight rings of 256 MB.
TEST_F(Pull, RingsLargerThanTheLimit) {
    class Endless final : public TargetMemory {
    public:
        explicit Endless(FakeMemory& head) : head_(head) {}
        void read(std::uint64_t address, std::span<std::uint8_t> to) override {
            most_at_once = std::max(most_at_once, to.size());
            if (address < rings_at) return head_.read(address, to);
            std::fill(to.begin(), to.end(), std::uint8_t{0});
        }
        std::size_t most_at_once = 0;

    private:
        FakeMemory& head_;
    };
    constexpr std::uint64_t most = std::uint64_t{1} << 28;  // bytes in a ring
    core.cursor = 2 * most;
    core.seen = core.cursor;
    hello.cores = 8;
    std::vector<std::uint8_t> cores;
    for (unsigned n = 0; n < hello.cores; ++n) {
        const auto* const from = reinterpret_cast<const std::uint8_t*>(&core);
        cores.insert(cores.end(), from, from + sizeof core);
    }
    descriptor.ring_log2 = 28;
    (void)refusal();  // lays out the memory
    memory.blocks[cores_at] = cores;
    Endless endless(memory);
    const Pulled pulled = pull_rings(endless, *elf);
    EXPECT_EQ(pulled.left_out, 8 * most / 8 - most_ring_bytes / 8);
    EXPECT_LE(endless.most_at_once, std::size_t{1} << 20);
    EXPECT_EQ(read(pulled).overwritten, 8 * most / 8);
}

// For any content of the memory, the result is one sentence, or a session whose sums hold.
TEST_F(Pull, SpoiledMemory) {
    std::mt19937_64 random(7);
    core.seen_clock = now;
    core.seen = bytes;
    calls(3000);
    const auto good_ring = ring;
    const auto good_core = core;
    const auto good = descriptor;
    unsigned sessions = 0;
    for (int round = 0; round < 400; ++round) {
        ring = good_ring;
        core = good_core;
        descriptor = good;
        for (unsigned i = 0; i < 1 + random() % 200; ++i)
            ring[random() % slots] ^= random() >> random() % 64;
        auto* const words = reinterpret_cast<std::uint64_t*>(&core);
        for (unsigned i = 0; i < random() % 3; ++i)
            words[random() % (sizeof core / 8)] = random() >> random() % 64;
        if (random() % 4 == 0) {
            reinterpret_cast<std::uint8_t*>(&descriptor)[8 + random() % (sizeof descriptor - 8)] ^=
                static_cast<std::uint8_t>(1 << random() % 8);
        }
        sessions += pulls_a_session();
    }
    EXPECT_GT(sessions, 100u);
}

}  // namespace
}  // namespace nopscope::host
