// SPDX-License-Identifier: Apache-2.0
// What each architecture says of its code. The words of riscv64 are the assembler's
// (binutils 2.40), compared once by hand with its listing.
#include "host-tools/image/arch/disassembler.hpp"
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::arch_test {

using Kind = Flow::Kind;
constexpr std::uint64_t base = ElfBuilder::text_base;
constexpr std::uint16_t em_riscv = 243;

const Arch& arm = *arch_of_machine(183);
const Arch& riscv = *arch_of_machine(em_riscv);

ElfFile riscv_file(ElfBuilder builder) {
    builder.machine = em_riscv;
    return ElfFile(builder.build(), "image.elf");
}

struct Case {
    std::uint32_t word;
    const char* text;
    Kind kind = Kind::next;
    std::uint64_t target = 0;
    unsigned bytes = 4;
};

void check(const Arch& arch, const std::vector<Case>& cases) {
    const ElfFile elf(ElfBuilder().build(), "image.elf");
    const Disassembler disassembler(arch);
    for (const Case& one : cases) {
        SCOPED_TRACE(one.text);
        const Instruction is = arch.scan(elf)->step(base, one.word);
        EXPECT_EQ(disassembler.text(base, one.word, is.bytes), one.text);
        EXPECT_EQ(std::tuple(is.bytes, is.flow.kind, is.flow.target),
                  std::tuple(one.bytes, one.kind, one.target));
    }
}

TEST(Arch, InstructionsOfArm64) {
    check(arm, {{a64::nop, "nop"},
                {a64::bti_c, "bti\tc"},
                {a64::paciasp, "paciasp"},
                {a64::mov_x9_x30, "mov\tx9, x30"},
                {0xd65f03c0, "ret"},
                {0xd65f0bff, "retaa"},
                {0xb8200020, "ldadd\tw0, w0, [x1]"},
                {0x94000010, "bl\t0x40080040", Kind::call, base + 0x40},
                {0x17ffffff, "b\t0x4007fffc", Kind::jump, base - 4},
                {0x54000041, "b.ne\t0x40080008", Kind::jump, base + 8},
                {0xb4ffffe3, "cbz\tx3, 0x4007fffc", Kind::jump, base - 4},
                {0x37f80062, "tbnz\tw2, #0x1f, 0x4008000c", Kind::jump, base + 12},
                {0xd63f0020, "blr\tx1", Kind::indirect_call},
                {0xd61f0020, "br\tx1", Kind::indirect_jump},
                {ElfBuilder::adrp(3, base, 0x40000000), "adrp\tx3, 0x40000000"},
                {ElfBuilder::adr(3, -4), "adr\tx3, 0x4007fffc"},
                {ElfBuilder::ldr_literal(7, 16), "ldr\tx7, 0x40080010"},
                {0xffffffff, ".inst\t0xffffffff"}});
}

TEST(Arch, InstructionsOfRiscv64) {
    check(riscv, {{0x00000013, "nop"},
                  {0x7fb000ef, "jal\t0x40080ffa", Kind::call, base + 0xffa},
                  {0xff6ff2ef, "jal\tt0, 0x4007f7f6", Kind::call, base - 0x80a},
                  {0x7f1ff06f, "j\t0x4017fff0", Kind::jump, base + 0xffff0},
                  {0x7eb504e3, "beq\ta0, a1, 0x40080fe8", Kind::jump, base + 0xfe8},
                  {0x80041363, "bnez\ts0, 0x4007f006", Kind::jump, base - 0xffa},
                  {0x010780e7, "jalr\t16(a5)", Kind::indirect_call},
                  {0x00078067, "jr\ta5", Kind::indirect_jump},
                  {0x00008067, "ret"},
                  {0x00028067, "jr\tt0"},
                  {0x040282e7, "jalr\tt0, 64(t0)", Kind::indirect_call},
                  {0x00001097, "auipc\tra, 1"},
                  {0x0087b703, "ld\ta4, 8(a5)"},
                  {0x800017b7, "lui\ta5, 524289"},
                  {0x01078693, "addi\ta3, a5, 16"},
                  {0x30200073, "mret"},
                  {0x00100073, "ebreak"},
                  {0xc0102573, "rdtime\ta0"},
                  {0xc0002573, "rdcycle\ta0"},
                  {0x00b6352f, "amoadd.d\ta0, a1, (a2)"},
                  {0x20c5a533, "sh1add\ta0, a1, a2"},
                  {0xffffffff, ".inst\t0xffffffff"}});
    const auto half = [](std::uint32_t word, const char* text, Kind kind = Kind::next,
                         std::uint64_t target = 0) {
        return Case{word | 0x8082'0000, text, kind, target, 2};
    };
    check(riscv, {half(0x0001, "nop"), half(0xbf3d, "j\t0x4007ff3e", Kind::jump, base - 0xc2),
                  half(0xd571, "beqz\ta0, 0x4007ffcc", Kind::jump, base - 0x34),
                  half(0xffad, "bnez\ta5, 0x4007ff7a", Kind::jump, base - 0x86),
                  half(0x8082, "ret"), half(0x8782, "jr\ta5", Kind::indirect_jump),
                  half(0x9782, "jalr\ta5", Kind::indirect_call), half(0x9002, "ebreak"),
                  half(0x7139, "addi\tsp, sp, -64"), half(0xe43e, "sd\ta5, 8(sp)"),
                  half(0x0000, "unimp")});
}

TEST(Arch, MappingSymbolsAreNoNames) {
    for (const char* name : {"$x", "$d", "$x.1", "$d.foo", "$xrv64i2p1_m2p0"})
        EXPECT_TRUE(ElfSymbol{.name = name}.is_mapping()) << name;
    for (const char* name : {"$", "$a", "$xr", "xrv64"})
        EXPECT_FALSE(ElfSymbol{.name = name}.is_mapping()) << name;
}

TEST(Arch, LandingPadsAndBreakpointsAreKnown) {
    EXPECT_TRUE(arm.is_site_landing_pad(a64::bti_c));
    EXPECT_FALSE(arm.is_site_landing_pad(a64::paciasp));
    EXPECT_TRUE(arm.is_landing_pad(a64::paciasp));
    EXPECT_TRUE(arm.is_breakpoint(0xd4200000));   // brk #0
    EXPECT_TRUE(arm.is_breakpoint(0xd43fffe0));   // brk #0xffff
    EXPECT_FALSE(arm.is_breakpoint(0xd4400000));  // hlt #0
    EXPECT_TRUE(riscv.is_breakpoint(0x00100073));
    EXPECT_TRUE(riscv.is_breakpoint(0x0001'9002));  // c.ebreak, and another half
    EXPECT_FALSE(riscv.is_breakpoint(0x00000073));  // ecall
}

TEST(Arch, TargetsReachAsFarAsTheyCan) {
    constexpr std::uint64_t at = 0x40000000;
    EXPECT_EQ(arm.pc_relative_target(at, 0x95ffffff), at + (1 << 27) - 4);
    EXPECT_EQ(arm.pc_relative_target(at, 0x96000000), at - (1 << 27));
    EXPECT_EQ(arm.pc_relative_target(at, 0x547fffe0), at + (1 << 20) - 4);
    EXPECT_EQ(arm.pc_relative_target(at, 0x36040000), at - (1 << 15));
    EXPECT_EQ(arm.pc_relative_target(at, a64::nop), std::nullopt);
    EXPECT_EQ(riscv.pc_relative_target(at, 0x7ffff0ef), at + (1 << 20) - 2);
    EXPECT_EQ(riscv.pc_relative_target(at, 0x8000006f), at - (1 << 20));
    EXPECT_EQ(riscv.pc_relative_target(at, 0x7e000fe3), at + (1 << 12) - 2);
    EXPECT_EQ(riscv.pc_relative_target(at, 0x80000063), at - (1 << 12));
    EXPECT_EQ(riscv.pc_relative_target(at, 0xaffd), at + (1 << 11) - 2);
    EXPECT_EQ(riscv.pc_relative_target(at, 0xb001), at - (1 << 11));
    EXPECT_EQ(riscv.pc_relative_target(at, 0xcd1d), at + 0x3e);
    EXPECT_EQ(riscv.pc_relative_target(at, 0xd101), at - (1 << 8));
    EXPECT_EQ(riscv.pc_relative_target(at, 0x00078067), std::nullopt);
}

// What the last of these words, which begin at `base`, makes and where it goes.
Instruction last_of(const std::vector<std::uint32_t>& words, ElfBuilder builder = {}) {
    const ElfFile elf = riscv_file(builder);
    const auto scan = riscv.scan(elf);
    Instruction is;
    std::uint64_t at = base;
    for (const std::uint32_t word : words) {
        is = scan->step(at, word);
        at += is.bytes;
    }
    return is;
}

TEST(Riscv64, TwoInstructionsMakeOneAddress) {
    constexpr std::uint32_t auipc_ra = 0x00001097, auipc_t1 = 0xfffff317, auipc_a0 = 0x00000517,
                            auipc_a5 = 0x00001797, lui_a5 = 0x800017b7;
    constexpr std::uint32_t addi_a0 = 0xfc050513, addi_a3_a5 = 0x01078693, ld_a4_a5 = 0x0087b703,
                            addi_gp = 0xff018513, li_a5 = 0x4789, call = 0x7fb000ef;
    Flow flow = last_of({auipc_ra, 0xff8080e7}).flow;
    EXPECT_EQ(std::pair(flow.kind, flow.target), std::pair(Kind::call, base + 0xff8));
    flow = last_of({auipc_t1, 0x00c30067}).flow;
    EXPECT_EQ(std::pair(flow.kind, flow.target), std::pair(Kind::jump, base - 0xff4));
    EXPECT_EQ(last_of({auipc_a0, addi_a0}).made, base - 0x40);
    EXPECT_EQ(last_of({auipc_a5, 0x0001, addi_a3_a5}).made, base + 0x1010) << "another one between";
    EXPECT_EQ(last_of({lui_a5, addi_a3_a5}).made, 0xffffffff80001010);
    EXPECT_EQ(last_of({auipc_a5, li_a5, addi_a3_a5}).made, std::nullopt) << "written over";
    EXPECT_EQ(last_of({auipc_a5, call, addi_a3_a5}).made, std::nullopt) << "changed by the call";
    EXPECT_EQ(last_of({auipc_a5 ^ 0xe80, call, addi_a3_a5 ^ 0xe8000}).made, base + 0x1010) << "s2";

    ElfBuilder builder;
    builder.text.resize(0x1010 / 4);
    builder.text[0x1008 / 4] = 0x1234;
    EXPECT_EQ(last_of({auipc_a5, ld_a4_a5}, builder).made, 0x1234u);
    EXPECT_EQ(last_of({addi_gp}).made, std::nullopt);
    builder.symbol("__global_pointer$", base + 0x800, 0);
    EXPECT_EQ(last_of({auipc_a5, addi_gp}, builder).made, base + 0x7f0) << "as the linker relaxes";
}

constexpr std::uint32_t nop = 0x00000013, short_nops = 0x0001'0001;
constexpr std::uint32_t auipc_t0 = 0x00005297, jalr_t0 = 0x040282e7, ret = 0x00008067;

// An image with this code, which begins at `base`, and a function 8 bytes from there or elsewhere.
ElfBuilder with_code(const std::vector<std::uint32_t>& code, std::uint64_t function = base + 8) {
    ElfBuilder builder;
    builder.text = code;
    builder.symbol("f", function, 2, 8);
    return builder;
}

TEST(Riscv64, SitesAreAsTheCompilerAndAsBootLeaveThem) {
    const auto is_site = [](const std::vector<std::uint32_t>& code) {
        const auto words = riscv.site_words(riscv_file(with_code(code)), base + 8);
        if (!words) return false;
        EXPECT_FALSE(words->has_landing_pad);
        EXPECT_EQ(words->setup_address, base + 8);
        EXPECT_EQ(words->word_address, base + 12);
        return true;
    };
    EXPECT_TRUE(is_site({short_nops, short_nops, short_nops, short_nops, ret}));
    EXPECT_TRUE(is_site({nop, nop, nop, nop, ret}));
    EXPECT_TRUE(is_site({0, 0, auipc_t0, nop, ret}));
    EXPECT_TRUE(is_site({0x80001234, 0, auipc_t0, jalr_t0, ret}));
    EXPECT_FALSE(is_site({short_nops, short_nops, short_nops, ret, ret}));
    EXPECT_FALSE(is_site({0, short_nops, short_nops, short_nops, ret}));
    EXPECT_FALSE(is_site({nop, nop, nop, 0x0013'0001, 0x0001'0000, ret}))
        << "one lies across its end";
    EXPECT_FALSE(is_site({0, 0, auipc_t0, ret, ret}));
    EXPECT_FALSE(is_site({0, 0, auipc_t0 + 0x80, nop, ret})) << "another register";
    EXPECT_FALSE(is_site({0, 0, auipc_t0, jalr_t0 & ~0xf80u, ret})) << "a jump without a link";
    EXPECT_FALSE(is_site({nop, nop, nop}));
}

TEST(Riscv64, NopsOfTheOtherWidthHaveARemedy) {
    const auto remedy = [](const std::vector<std::uint32_t>& code, std::uint64_t function) {
        const char* const text = riscv.site_remedy(riscv_file(with_code(code, function)), base + 8);
        return std::string(text == nullptr ? "" : text);
    };
    EXPECT_THAT(remedy({short_nops, short_nops, ret, ret}, base + 4), HasSubstr("entry=8,4"));
    EXPECT_THAT(remedy({nop, nop, nop, nop, nop, nop, nop, nop, ret}, base + 16),
                HasSubstr("entry=4,2"));
    EXPECT_EQ(remedy({short_nops, short_nops, ret, ret}, base + 16), "");
    EXPECT_EQ(remedy({nop, nop, nop, ret, nop, nop}, base + 16), "");
}

TEST(Riscv64, AFunctionThatTakesARegisterOfItsCallerIsKnown) {
    const auto takes = [](std::vector<std::uint32_t> body) {
        body.push_back(nop);
        ElfBuilder builder = with_code(body, base);
        const std::uint64_t next = builder.here();
        builder.text.insert(builder.text.end(), {0x30200073, 0});  // of the next function
        builder.symbol("next", next, 2, 4);
        return riscv.takes_register_of_caller(riscv_file(builder), base);
    };
    constexpr std::uint32_t sd_a5 = 0x00f13423, sd_t3 = 0x01c13423, sd_ra = 0x00113423,
                            sd_s0 = 0x00813423, ld_a0_t3 = 0x000e3503, mv_t3_a0 = 0x00050e13,
                            call = 0x7fb000ef, li_a5 = 0x00100793, beqz_a0 = 0x00050463,
                            mret = 0x30200073, sret = 0x10200073;
    EXPECT_TRUE(takes({sd_t3}));
    EXPECT_TRUE(takes({beqz_a0, ld_a0_t3}));
    EXPECT_FALSE(takes({mv_t3_a0, ld_a0_t3})) << "it has written the register";
    EXPECT_FALSE(takes({call, ld_a0_t3}));
    EXPECT_FALSE(takes({ret, ld_a0_t3}));
    for (const std::uint32_t end : {mret, sret}) {
        EXPECT_TRUE(takes({sd_a5, li_a5, end})) << "an interrupt's";
        EXPECT_TRUE(takes({sd_a5, li_a5, call, end}));
        EXPECT_FALSE(takes({li_a5, sd_a5, end})) << "a start-up's";
        EXPECT_FALSE(takes({sd_ra, sd_s0, end}));
        EXPECT_FALSE(takes({sd_a5, li_a5, ret, end}));
    }
    EXPECT_FALSE(takes({sd_a5, li_a5})) << "the next function ends by mret";
}

TEST(Riscv64, TheTargetsWordsAreThoseOfItsArchitecture) {
    const auto said = [](protocol::Architecture of) {
        std::string all;
        for (const std::uint32_t what : {0u, 7u, 8u})
            all += captured_name(of, what) + std::string(" ");
        for (const auto clock : {protocol::Clock::timer, protocol::Clock::cycles})
            all += arch_of(of).clock_name(clock) + std::string(" ");
        return all;
    };
    EXPECT_EQ(said(protocol::Architecture::arm64), "x0 x7 result cntvct pmccntr ");
    EXPECT_EQ(said(protocol::Architecture::riscv64), "a0 a7 result rdtime rdcycle ");
    EXPECT_EQ(find_arch(static_cast<protocol::Architecture>(2)), nullptr);
    EXPECT_EQ(arch_of_machine(62), nullptr);
}

}  // namespace nopscope::host::test::arch_test
