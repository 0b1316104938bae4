// SPDX-License-Identifier: Apache-2.0
// Images: what the reader finds in them, what `check` reports, and the source lines of an image
// that a real compiler made.
#include "host-tools/image/check.hpp"
#include "host-tools/image/read_symbols.hpp"
#include "host-tools/image/source_lines.hpp"
#include "host-tools/line/stream/same_image.hpp"
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::elf_test {

class Elf : public testing::Test {
protected:
    ElfFile file() const { return {builder.build(), "image.elf"}; }
    std::vector<std::string> problems(const std::vector<std::string>& allowed = {}) const {
        std::vector<std::string> result;
        for (const auto& problem : check_image(file(), allowed, true).problems)
            result.push_back(problem.function + " " + problem.what);
        return result;
    }
    ElfBuilder builder;
};

TEST_F(Elf, SymbolsSitesAndBuildId) {
    const auto a = builder.function("alpha");
    const auto b = builder.function("_ZN3lua4callEi", true, false);
    builder.function("plain", false);
    const ElfFile elf = file();
    EXPECT_EQ(std::string(elf.build_id().begin(), elf.build_id().end()), "\xaa\xbb\xcc");
    EXPECT_EQ(site_addresses(elf), (std::vector<std::uint64_t>{a, b}));
    const Symbols symbols = read_symbols(elf);
    ASSERT_EQ(symbols.sites.size(), 2u);
    EXPECT_EQ(symbols.find(a)->name, "alpha");
    EXPECT_EQ(symbols.find(b)->name, "lua::call(int)");
    protocol::Byte table[16];
    protocol::Writer out(table);
    for (const std::uint64_t site : {a, b}) out.fixed(site);
    EXPECT_EQ(symbols.site_table_crc, protocol::crc32c(table, 16));
    EXPECT_EQ(elf.arch().site_words(elf, a)->setup_address, a + 4);
    EXPECT_EQ(elf.arch().site_words(elf, a)->word_address, a + 8);
    EXPECT_EQ(elf.arch().site_words(elf, b)->word_address, b + 4);
}

// A symbol: its name, then f for a function, s for a size, l or w for a local or a weak one. The
// first symbol of each row is to name the address, whatever their order in the image.
TEST(Symbols, AStrongNameWinsOverItsAliases) {
    using Row = std::vector<std::pair<std::string, std::string>>;
    for (Row row : std::initializer_list<Row>{
             {{"Default_Handler", "fs"}, {"ADC_IRQHandler", "fsw"}, {"WWDG_IRQHandler", "fsw"}},
             {{"default_handler", "fsl"}, {"ADC_IRQHandler", "fsw"}},
             {{"inlined", "fsw"}, {"inlined.localalias", "fsl"}},
             {{"f", "fs"}, {"f.constprop.0", "fs"}},
             {{"weak_only", "fsw"}, {"by_the_linker_script", "f"}},
             {{"global", "fs"}, {"local", "fsl"}},
             {{"label", "s"}, {"bare", ""}},
         }) {
        const std::string best = row[0].first;
        std::vector<std::string> others;
        for (const auto& [name, kind] : row) others.push_back(name);
        others.erase(others.begin());
        std::sort(others.begin(), others.end());
        std::sort(row.begin(), row.end());
        do {
            ElfBuilder image;
            const auto address = image.function("");
            for (const auto& [name, kind] : row) {
                const auto has = [&of = kind](char c) { return of.find(c) != of.npos; };
                image.symbol(name, address, has('f') ? 2 : 0, has('s') ? 8 : 0, has('l'), has('w'));
            }
            image.symbol("__text_start", address, 0);
            const ElfFile elf(image.build(), "image.elf");
            const Function site = read_symbols(elf).sites.at(0);
            EXPECT_EQ(site.name, best);
            if (row[0].second[0] == 'f') EXPECT_EQ(site.aliases, others);
        } while (std::next_permutation(row.begin(), row.end()));
    }
}

TEST(Demangled, AGenericLambdaWithAPackToo) {
    EXPECT_THAT(demangled("_ZZ1fvENKUlT_DpT0_E_clIiJEEEDaS_S1_"),
                AllOf(HasSubstr("f()::"), HasSubstr("lambda")));
}

TEST_F(Elf, TheLinkersSymbolsBoundTheTable) {
    const auto a = builder.function("alpha");
    const auto b = builder.function("beta");
    const auto begin = builder.data_word(b - 8);
    builder.data_word(a - 8);
    builder.data_word(0);
    builder.symbol("__nopscope_sites_start", begin, 0);
    builder.symbol("__nopscope_sites_end", begin + 24, 0);
    builder.sites.clear();
    EXPECT_EQ(site_addresses(file()), (std::vector<std::uint64_t>{a, b}));
    EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(Elf, AWrongImageIsOneSentence) {
    builder.function("alpha");
    const Symbols symbols = read_symbols(file());
    const auto said = [&](const std::string& build_id, std::uint32_t wrong_bits) {
        HelloInfo hello;
        hello.build_id = build_id;
        hello.site_table_crc = symbols.site_table_crc ^ wrong_bits;
        return mismatch(symbols, hello).value_or("");
    };
    EXPECT_EQ(said(symbols.build_id, 0), "");
    EXPECT_EQ(said("\x11\x22", 0),
              "image.elf is not the image that was recorded: its build-id is "
              "aabbcc, the recording's is 1122");
    EXPECT_THAT(said("", 0), HasSubstr("the recording's is (none)"));
    EXPECT_THAT(said(symbols.build_id, 1), HasSubstr("patch sites are not the recording's"));
    HelloInfo other;
    other.architecture = protocol::Architecture::riscv64;
    EXPECT_EQ(
        mismatch(symbols, other),
        "image.elf is not the image that was recorded: it is for arm64, the target is riscv64");
}

TEST_F(Elf, AnotherFileThanAnArm64ElfIsRefused) {
    Bytes x86_64 = builder.build();
    x86_64[18] = 62;
    for (const Bytes& bytes : {Bytes(), Bytes(100, 0), x86_64})
        EXPECT_THROW(ElfFile(bytes, "x"), Error);
}

TEST_F(Elf, AHealthyImagePasses) {
    const auto a = builder.function("called_through_pointer");
    builder.function("local", true, false);
    builder.function("plain", false, false);
    builder.data_word(a);
    const CheckResult result = check_image(file(), {});
    EXPECT_THAT(problems(), IsEmpty());
    EXPECT_EQ(std::tuple(result.sites, result.functions, result.address_taken),
              std::tuple(2u, 3u, 1u));
    EXPECT_THAT(result.uninstrumented, ElementsAre("plain"));
}

TEST_F(Elf, DroppedAndFalseSitesAreNamed) {
    builder.function("good");
    builder.function("dropped_with_bti", true, true, {}, false);
    builder.function("dropped_without", true, false, {}, false);
    for (const std::uint64_t site : {builder.function("plain", false), std::uint64_t{0x50000000}})
        builder.sites.push_back(site);
    EXPECT_THAT(problems(), ElementsAre("dropped_with_bti is instrumented but has no site",
                                        "dropped_without is instrumented but has no site",
                                        "plain is in the site table but is no patch site",
                                        "(no symbol) is in the site table but is no patch site",
                                        "(no symbol) is a site without a function symbol"));
}

TEST_F(Elf, AMisalignedSiteIsNamed) {
    builder.function("good");
    if (builder.here() % 8 == 0) builder.text.push_back(0xd65f03c0);
    builder.text.insert(builder.text.end(), 2, a64::nop);
    const auto address = builder.here();
    builder.text.insert(builder.text.end(), {a64::nop, a64::nop, 0xd65f03c0});
    builder.symbol("askew", address, 2, 12);
    builder.sites.push_back(address);
    ASSERT_EQ(address % 8, 4u);
    EXPECT_THAT(problems(), ElementsAre("askew has a site but is not aligned to 8 bytes"));
}

TEST_F(Elf, AFunctionThatTakesARegisterFromItsCallerIsNamed) {
    constexpr std::uint32_t stp_x11_x10 = 0xa9bf2beb, str_x9 = 0xf90007e9, ldr_x15 = 0xf94001e0;
    const std::pair<std::vector<std::uint32_t>, bool> cases[] = {
        {{stp_x11_x10}, true},                     // stp x11, x10, [sp, #-16]!
        {{0xf81f0fef}, true},                      // str x15, [sp, #-16]!
        {{0xd503233f, 0xd10183ff, str_x9}, true},  // paciasp; sub sp, sp, #0x60; str x9, [sp, #8]
        {{0xb4000060, stp_x11_x10}, true},         // behind cbz x0, at whose target it is kept, too
        {{ldr_x15}, true},                         // ldr x0, [x15]
        {{0x3dc00140}, true},                      // ldr q0, [x10]
        {{0xd2800029, str_x9}, false},             // behind mov x9, #1
        {{0xa9402be9, str_x9}, false},             // behind ldp x9, x10, [sp]
        {{0xf94001ef, ldr_x15}, true},             // ldr x15, [x15]
        {{0xa9bf7bfd}, false},                     // stp x29, x30, [sp, #-16]!
        {{0xf81f0ff0}, false},                     // str x16, [sp, #-16]!
        {{0x6d002be9, 0xad002be9}, false},         // stp d9, d10, [sp]; stp q9, q10, [sp]
        {{0x94000001, str_x9}, false},             // behind bl
        {{0xd63f0000, str_x9}, false},             // behind blr x0
        {{0xd4000001, str_x9}, false},             // behind svc
        {{0x14000001, str_x9}, false},             // behind b
        {{0x58000009}, false},                     // ldr x9, a literal
        {{0xd65f03c0, str_x9}, false},             // behind ret
    };
    for (const auto& [words, is_broken] : cases) {
        ElfBuilder copy = builder;
        const auto site = copy.function("odd", true, true, words);
        const ElfFile elf(copy.build(), "image.elf");
        const auto found = check_image(elf, {}).broken_by_tracing;
        ASSERT_EQ(found.size(), is_broken ? 1u : 0u) << std::hex << words.back();
        const auto known = read_symbols(elf).broken_by_tracing;
        ASSERT_EQ(known.size(), found.size());
        if (!is_broken) continue;
        EXPECT_EQ(found[0].address, site);
        EXPECT_EQ(problem_text("image.elf", known[0]),
                  fmt::format("image.elf: odd at {} takes a register of x9 to x15 from its caller, "
                              "so a traced call breaks the program: give it NOPSCOPE_NOTRACE, "
                              "which is __attribute__((patchable_function_entry(0)))",
                              hex_address(site)));
        EXPECT_THAT(not_allowed(known, {"o?d"}), IsEmpty());
        EXPECT_EQ(not_allowed(known, {"o"}).size(), 1u);
    }
}

TEST_F(Elf, APointerInDataNeedsALandingPadIfBtiIsEnforced) {
    builder.data_word(builder.function("bare", true, false));
    EXPECT_THAT(problems(), ElementsAre(ContainsRegex("bare has its address taken at 0x.*no "
                                                      "landing pad")));
    EXPECT_THAT(problems({"bare"}), IsEmpty());
    const CheckResult unknown = check_image(file(), {});
    EXPECT_THAT(unknown.problems, IsEmpty());
    EXPECT_EQ(unknown.without_pad.size(), 1u);
    builder.function("with_pad");
    EXPECT_EQ(check_image(file(), {}).problems.size(), 1u) << "a site begins with bti c";
    EXPECT_THAT(check_image(file(), {}, false).problems, IsEmpty());
}

TEST_F(Elf, ANameTableOfAnotherImageIsFound) {
    builder.function("alpha");
    builder.site_names = name_table(file());
    EXPECT_THAT(problems(), IsEmpty());
    builder.function("beta");
    EXPECT_THAT(problems(), ElementsAre(HasSubstr("made for another image")));
}

TEST_F(Elf, AddressesMadeInCodeCount) {
    const auto bare = builder.function("bare", true, false);
    // Each user is a separate function, so that the registers start unknown.
    const auto user = [&](std::vector<std::uint32_t> body) {
        ElfBuilder copy = builder;
        copy.function("user", false, false, body);
        return check_image({copy.build(), "image.elf"}, {}, true).problems.size();
    };
    const std::uint64_t at = builder.next();
    const auto low = bare & 0xfff;
    // The register `rd` gets the address in two instructions, with another one between them.
    const auto around = [&](unsigned rn, std::uint32_t between, unsigned rd) {
        return user({ElfBuilder::adrp(rn, at, bare), between, ElfBuilder::add(rd, rn, low)});
    };
    EXPECT_EQ(user({}), 0u);
    EXPECT_EQ(user({ElfBuilder::adr(3, static_cast<std::int64_t>(bare - at))}), 1u);
    EXPECT_EQ(user({ElfBuilder::adrp(3, at, bare), ElfBuilder::add(4, 3, low)}), 1u);
    EXPECT_EQ(around(3, 0xf9000060, 3), 1u) << "a store keeps the register";
    EXPECT_EQ(around(3, 0xd2800003, 3), 0u) << "mov x3, #0 does not";
    EXPECT_EQ(around(3, 0x94000000, 3), 0u) << "nor does a call";
    EXPECT_EQ(around(19, 0x94000000, 0), 1u) << "which keeps x19";
    EXPECT_EQ(user({ElfBuilder::adrp(3, at, bare), ElfBuilder::add(4, 3, low + 8)}), 0u);
    EXPECT_EQ(user({ElfBuilder::ldr_literal(0, 8), 0xd65f03c0, static_cast<std::uint32_t>(bare),
                    static_cast<std::uint32_t>(bare >> 32)}),
              1u);
}

// The tracer's own entries may lack a pad, and paciasp is one.
TEST_F(Elf, HarmlessPointersAreNoProblems) {
    builder.symbol("__text_start", ElfBuilder::text_base, 0);
    const auto first = builder.function("first", false, false);
    ASSERT_EQ(first, ElfBuilder::text_base);
    builder.data_word(first);      // the bound of a memory map
    builder.data_word(first + 4);  // inside a function, as in a jump table
    builder.symbol("$d", ElfBuilder::data_base, 0, 0, true);
    builder.data_word(builder.function("signed", false, false, {a64::paciasp}));
    builder.data_word(builder.function("nopscope_graph_entry", false, false));
    EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(Elf, DataInsideTextIsReadAsData) {
    const auto bare = builder.function("bare", true, false);
    while (builder.here() % 8 != 0) builder.text.push_back(0xd65f03c0);
    builder.symbol("$d", builder.here(), 0, 0, true);
    for (const std::uint64_t word : {bare, bare >> 32})
        builder.text.push_back(static_cast<std::uint32_t>(word));
    builder.symbol("$x", builder.here(), 0, 0, true);
    builder.function("after");
    EXPECT_EQ(problems().size(), 1u);
}

TEST_F(Elf, TailCallsAreJumpsToOtherFunctions) {
    constexpr std::uint32_t blr_x1 = 0xd63f0020, br_x1 = 0xd61f0020;
    constexpr std::uint32_t b = 0x14000000, bl = 0x94000000;
    constexpr auto to = ElfBuilder::branch;
    // Where the body of the next function begins, behind its landing pad and its site.
    const auto next = [&] { return builder.next() + 8 + 12; };
    builder.symbol("wide", ElfBuilder::text_base + 8, 2, 304);  // up to the end of all
    const auto narrow = builder.function("narrow");
    const auto f = builder.function("f");
    const auto g = builder.function("g");
    builder.function("jumps", true, true, {to(b, next(), f)});
    builder.function("calls", true, true, {to(bl, next(), f)});
    builder.function("both", true, true,
                     {to(bl, next(), f), to(b, next() + 4, f), to(b, next() + 8, g)});
    builder.function("by_pointer", true, true, {br_x1});
    builder.function("by_pointers", true, true, {br_x1, blr_x1, to(bl, next() + 8, f)});
    builder.function("if", true, true,
                     {0x54000000 | (static_cast<std::uint32_t>(f - next()) >> 2 & 0x7ffff) << 5});
    builder.function("hot");
    builder.function("hot.cold", false, false, {to(b, builder.next(), g)});
    const Symbols symbols = read_symbols(file());
    const std::tuple<const char*, std::uint64_t, Tail> cases[] = {
        {"jumps", f, Tail::always},      {"jumps", g, Tail::never},
        {"calls", f, Tail::never},       {"both", f, Tail::maybe},
        {"both", g, Tail::always},       {"by_pointer", f, Tail::always},
        {"by_pointers", g, Tail::maybe}, {"by_pointers", f, Tail::never},
        {"if", f, Tail::always},         {"hot", g, Tail::always}};
    for (const auto& [caller, callee, tail] : cases)
        EXPECT_EQ(symbols.tail(named(symbols.sites, caller).address, callee), tail) << caller;
    EXPECT_EQ(symbols.tail(narrow, f), Tail::never);
    EXPECT_EQ(symbols.tail(f, 0x1234), Tail::never);
    EXPECT_EQ(Symbols{}.tail(f, g), Tail::never);
}

constexpr char source[] =
    "int twice(int x) {\n"
    "    return 2 * x;\n"
    "}\n"
    "\n"
    "void _start(void) {\n"
    "    twice(21);\n"
    "}\n";

std::string image(const std::string& options,
                  const std::string& sites = "-O0 -fpatchable-function-entry=4,2",
                  const char* compiled = source) {
    const std::string directory = testing::TempDir();
    std::ofstream(directory + "dwarf.c") << compiled;
    const std::string command = "cd " + directory + " && aarch64-linux-gnu-gcc " + options + " " +
                                sites + " -nostdlib -static -ffreestanding -o dwarf.elf dwarf.c";
    EXPECT_EQ(std::system(command.c_str()), 0);
    return directory + "dwarf.elf";
}

TEST(Dwarf, NamesTheLinesOfACompilersImage) {
    for (const char* const options : {"-g", "-g -gz", "-g -gdwarf-4"}) {
        const ElfFile elf = ElfFile::open(image(options));
        const SourceLines lines(elf);
        const LineTable table(elf);
        std::size_t found = 0;
        for (const Function& site : read_symbols(elf).sites) {
            const std::uint32_t line = site.name == "twice" ? 1 : 5;
            const SourcePlace place = lines.at(site.address);
            EXPECT_TRUE(place.file.ends_with("dwarf.c")) << place.file;
            EXPECT_EQ(place.line, line);
            const auto at = table.at(site.address + 8);  // the first row is behind the two NOPs
            ASSERT_TRUE(at) << site.name;
            EXPECT_EQ(at->line, line);
            EXPECT_TRUE(table.files()[at->file].ends_with("dwarf.c"));
            ++found;
        }
        EXPECT_EQ(found, 2u);
    }
}

// GCC's -fipa-ra: _start keeps values in registers that `twice` does not change.
TEST(Dwarf, AFunctionWhoseCallersKnowItsRegistersIsBroken) {
    const std::string attribute =
        std::string("__attribute__((patchable_function_entry(4, 2), noinline)) ") + source;
    for (const auto& [flags, broken] : {std::pair("-O2", 1u),
                                        {"-Os", 1u},
                                        {"-O0", 0u},
                                        {"-O2 -fno-ipa-ra", 0u},
                                        {"-O2 -fpatchable-function-entry=4,2", 0u},
                                        {"-O2 -gno-record-gcc-switches", 0u}}) {
        const ElfFile elf = ElfFile::open(image("-g", flags, attribute.c_str()));
        const auto found = read_symbols(elf).broken_by_tracing;
        ASSERT_EQ(found.size(), broken) << flags;
        if (broken == 0) continue;
        EXPECT_EQ(found[0].function, "twice");
        EXPECT_EQ(found[0].what,
                  "has callers that may keep values in x9 to x17 (GCC's -fipa-ra), so a traced "
                  "call breaks the program: compile its file with -fno-ipa-ra");
    }
}

TEST(Dwarf, AnImageWithoutItHasNoLines) {
    const ElfFile elf = ElfFile::open(image("-g0"));
    const Symbols symbols = read_symbols(elf);
    ASSERT_EQ(symbols.sites.size(), 2u);
    EXPECT_EQ(SourceLines(elf).at(symbols.sites[0].address).line, 0u);
    EXPECT_FALSE(LineTable(elf).at(symbols.sites[0].address));
}

}  // namespace nopscope::host::test::elf_test
