// SPDX-License-Identifier: Apache-2.0
// The name table: made from an image, read by the target.
#include "tracer/protocol/names.hpp"
#include "host-tools/image/read_symbols.hpp"
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::names_test {

TEST(Names, TheTargetReadsEverySitesLinkageName) {
    ElfBuilder builder;
    std::vector<std::string> names{"alpha", "alphabet", "_ZN3lua4callEi", "z"};
    for (unsigned i = 0; i < 60; ++i) names.push_back("_ZN3lua" + std::to_string(i * i) + "Ev");
    for (const std::string& name : names) builder.function(name);
    builder.function("plain", false);
    const std::string longer(300, 'n');
    builder.function(longer);
    names.push_back(longer.substr(0, 255));
    const ElfFile elf(builder.build(), "image.elf");

    const auto bytes = name_table(elf);
    const auto sites = static_cast<std::uint32_t>(names.size());
    const protocol::NameTable table(bytes.data(), bytes.size(), sites,
                                    site_table_crc(site_addresses(elf)));
    ASSERT_EQ(table.size(), sites);
    protocol::NameCursor cursor(table);
    for (std::uint32_t i = 0; i < sites; ++i) {
        ASSERT_TRUE(cursor.seek(i));
        EXPECT_EQ(std::string(cursor.data(), cursor.size()), names[i]);
    }
    EXPECT_FALSE(cursor.seek(sites));
}

TEST(Names, TheTargetReadsAliasesAndTheNamesOfClonesInTheSource) {
    ElfBuilder builder;
    for (int n = 0; n < 40; ++n) {
        const auto address = builder.function(fmt::format("handler{}", n));
        for (const char* const alias : {"_IRQHandler", "_Handler"})
            builder.symbol(fmt::format("x{}{}", n, alias), address, 2, 8, false, true);
        builder.function(fmt::format("parse{}.isra.0", n));
    }
    const ElfFile elf(builder.build(), "image.elf");
    const auto bytes = name_table(elf);
    const protocol::NameTable table(bytes.data(), bytes.size(), 80,
                                    site_table_crc(site_addresses(elf)));
    protocol::NameCursor cursor(table);
    std::mt19937 random(1);
    for (unsigned read = 0; read < 1000; ++read) {
        const unsigned n = random() % 40, only = random() % 4;  // aliases that are read
        std::vector<std::string> names;
        const auto take = [&] { names.emplace_back(cursor.data(), cursor.size()); };
        ASSERT_TRUE(cursor.seek(2 * n));
        take();
        for (unsigned more = 0; more < only && cursor.seek_alias(); ++more) take();
        std::vector<std::string> wanted{fmt::format("handler{}", n), fmt::format("x{}_Handler", n),
                                        fmt::format("x{}_IRQHandler", n)};
        wanted.resize(std::min(only + 1, 3u));
        EXPECT_EQ(names, wanted);
        ASSERT_TRUE(cursor.seek(2 * n + 1));
        EXPECT_EQ(std::string(cursor.data(), cursor.size()), fmt::format("parse{}.isra.0", n));
        ASSERT_TRUE(cursor.seek_alias());
        EXPECT_EQ(std::string(cursor.data(), cursor.size()), fmt::format("parse{}", n));
        EXPECT_FALSE(cursor.seek_alias());
    }
}

TEST(Names, SourceHoldsTheTable) {
    ElfBuilder builder;
    builder.function("alpha");
    const ElfFile elf(builder.build(), "image.elf");
    const std::string source = name_table_source(elf);
    EXPECT_THAT(source, HasSubstr(".section .nopscope.names, \"a\""));
    EXPECT_THAT(source, HasSubstr("    .byte 78,83,78,2,1,0,0,0,"));
    EXPECT_THAT(source, EndsWith(",0,5,97,108,112,104,97\n"));
}

TEST(Names, AnImageWithoutSitesHasNone) {
    ElfBuilder builder;
    builder.function("plain", false);
    EXPECT_THROW((void)name_table_source({builder.build(), "image.elf"}), Error);
}

}  // namespace nopscope::host::test::names_test
