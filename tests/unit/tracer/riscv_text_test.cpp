// SPDX-License-Identifier: Apache-2.0
// What is RISC-V's own: its words, the two copies of stubs, and calls in text.
#include "tests/unit/tracer/assemble.hpp"
#include "tests/unit/tracer/text_fixture.hpp"

namespace nopscope::testing::riscv_text_test {

// What a site's two words call.
Address called(Address function, std::uint32_t auipc, std::uint32_t jalr) {
    const auto upper = static_cast<std::int32_t>(auipc & 0xffff'f000);
    const auto lower = static_cast<std::int32_t>(jalr) >> 20;
    return function + static_cast<Address>(std::int64_t{upper} + lower);
}

TEST(Instructions, AgreeWithTheAssembler) {
    const std::int64_t distances[] = {0,    4,     2044,  2047,       2048,       4092,
                                      4096, -2048, -2049, 0x12345678, -0x7ffff000};
    std::string source = ".option norvc\nnop\n";
    for (const std::int64_t distance : distances) {
        const std::int64_t upper = arch::upper_part(distance);
        source += "auipc t0, " + std::to_string(upper & 0xfffff) + "\njalr t0, " +
                  std::to_string(distance - upper * 4096) + "(t0)\n";
    }
    const std::vector<std::uint32_t> words = assemble(NOPSCOPE_RISCV, "-march=rv64gc", source);
    ASSERT_EQ(words.size(), 1 + 2 * std::size(distances));
    EXPECT_EQ(words[0], arch::idle_word);
    constexpr Address at = 0x1'0000'0000;
    for (std::size_t i = 0; i < std::size(distances); ++i) {
        const std::uint32_t auipc = words[1 + 2 * i], jalr = words[2 + 2 * i];
        EXPECT_EQ(auipc & arch::opcode_and_rd, arch::auipc_t0);
        EXPECT_EQ(jalr & arch::but_immediate, arch::jalr_t0_t0);
        EXPECT_EQ(called(at, auipc, jalr), at + static_cast<Address>(distances[i]));
    }
}

// A site's JALR reaches 4 KiB around a point that its AUIPC gives, once. So of all residues of
// sites, near the stubs and far from them, each reaches all stubs of a copy.
TEST(Stubs, EverySiteReachesAll) {
    const Address stubs = text_base + 0x3800;
    arch::simulated_stubs = {stubs, stub_targets};
    unsigned second_copies = 0;
    for (const std::int64_t away : {-0x7fff'0000ll, -0x10'0000ll, 0ll, 0x1000ll, 0x7ffe'0000ll}) {
        for (Address residue = 0; residue < 4096; residue += 8) {
            const PatchSite site{stubs + static_cast<Address>(away) + residue};
            for (std::size_t n = 0; n < 6; ++n) {
                const auto word = arch::call_at(site.toggle(), stub_targets[n]);
                ASSERT_TRUE(word);
                const Address stub = called(site.function, site.setup_word(), *word);
                const bool is_second = stub == stubs + arch::stub_copy_bytes + 4 * n;
                ASSERT_TRUE(is_second || stub == stubs + 4 * n) << std::hex << residue;
                second_copies += is_second;
            }
        }
    }
    EXPECT_GT(second_copies, 0u) << "the first copy is not enough";
    EXPECT_FALSE(arch::is_out_of_reach(graph_entry));
    EXPECT_TRUE(arch::is_out_of_reach(far_entry));
    EXPECT_FALSE(arch::call_reaches(text_base, far_entry));
    EXPECT_FALSE(arch::call_reaches(stubs + 0x8000'0000, graph_entry));
}

// A word's upper half may be in another word of text.
TEST(Text, KnowsCallsOfBothLengths) {
    sim::SimMachine machine(text_base, 64);
    const auto place = [&](Address at, std::vector<std::uint16_t> halves) {
        std::uint32_t words[4]{};
        for (std::size_t i = 0; i < halves.size(); ++i) {
            const std::size_t half = at % 4 / 2 + i;
            words[half / 2] |= std::uint32_t{halves[i]} << half % 2 * 16;
        }
        for (unsigned i = 0; i < 4; ++i) machine.load((at & ~Address{3}) + 4 * i, words[i]);
        return at + 2 * halves.size();
    };
    const struct {
        std::vector<std::uint16_t> halves;
        bool is_call;
    } cases[] = {
        {{0x80e7, 0x0007}, true},   // jalr ra, 0(a5)
        {{0x00ef, 0x0040}, true},   // jal ra, 4
        {{0x82e7, 0x0102}, true},   // jalr t0, 16(t0)
        {{0x9782}, true},           // c.jalr a5
        {{0x9002}, false},          // c.ebreak
        {{0x8782}, false},          // c.jr a5
        {{0x006f, 0x0040}, false},  // j 4
        {{0x8067, 0x0000}, false},  // ret
        {{0x0013, 0x0000}, false},  // nop
    };
    for (const auto& [halves, is_call] : cases) {
        for (const Address at : {text_base + 16, text_base + 18}) {
            const Address end = place(at, halves);
            EXPECT_EQ(arch::is_call_before(machine, end), is_call) << std::hex << halves[0];
        }
    }
}

// The words at boot: 2-byte or 4-byte NOPs, and none that are mixed, or a debugger's C.EBREAK.
TEST(Sites, AreUnsetInEitherForm) {
    constexpr std::uint32_t nops = 0x0001'0001, nop = arch::idle_word, ebreak = 0x0001'9002;
    const struct {
        std::uint32_t words[4];
        bool is_unset;
    } cases[] = {{{nops, nops, nops, nops}, true},    {{nop, nop, nop, nop}, true},
                 {{nop, nop, nop, nops}, false},      {{nops, nops, ebreak, nops}, false},
                 {{nops, nops, nops, ebreak}, false}, {{nops, ebreak, nops, nops}, false}};
    for (const auto& [words, is_unset] : cases) {
        sim::SimMachine machine(text_base, 64);
        for (unsigned i = 0; i < 4; ++i) machine.load(text_base + 4 * i, words[i]);
        EXPECT_EQ(nopscope::is_unset(machine, SiteEntry(text_base)), is_unset);
    }
}

}  // namespace nopscope::testing::riscv_text_test
