// SPDX-License-Identifier: Apache-2.0
#include "tracer/core/site_table.hpp"
#include "tracer/patching/selection.hpp"
#include "tracer/patching/site_name_filter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <tuple>
#include <vector>

namespace nopscope::sites_test {

using Indexes = std::vector<std::uint32_t>;

TEST(SiteTable, SortsAndDropsEmptyAndRepeatedEntries) {
    std::vector<std::uint64_t> entries{0x1018, 0, 0x1098, 0x1038, 0x1018, 0};
    SiteTable sites;
    EXPECT_EQ(sites.prepare({}), 0u);
    EXPECT_FALSE(sites.find(0x1000));
    EXPECT_EQ(sites.prepare(entries), 3u);
    ASSERT_EQ(sites.size(), 3u);
    EXPECT_EQ(std::tuple(sites.function(0), sites.function(1), sites.function(2)),
              std::tuple(0x1020u, 0x1040u, 0x10a0u));
}

TEST(SiteTable, RefusedSiteKeepsItsIndexAndIsNotFound) {
    std::vector<std::uint64_t> entries{0xff8, 0x1018, 0x1038};
    SiteTable sites;
    sites.prepare(entries);
    const std::uint32_t crc = sites.crc(0);
    sites.set(1, sites[1].refused());
    EXPECT_FALSE(sites.usable(1));
    EXPECT_EQ(std::tuple(sites.function(1), sites.find(0x1000), sites.find(0x1040)),
              std::tuple(0x1020u, 0u, 2u));
    for (const Address none : {0x1020u, 0x1041u}) EXPECT_FALSE(sites.find(none)) << none;
    EXPECT_EQ(sites.crc(0), crc) << "host and target must agree whatever was refused";
}

// The address does not contain the layout's bit.
TEST(SiteTable, LandingPadsAreFound) {
    std::vector<std::uint64_t> entries{0xff8, 0x1000, 0x1018};
    SiteTable sites;
    sites.prepare(entries);
    const std::uint32_t crc = sites.crc(0);
    for (std::uint32_t i = 0; i < 3; ++i) sites.set(i, SiteEntry::of({sites.function(i), i != 1}));
    EXPECT_EQ(
        std::tuple(sites.function(0), sites.find(0x1000), sites.find(0x1008), sites.find(0x1020)),
        std::tuple(0x1000u, 0u, 1u, 2u));
    for (const Address none : {0xff8u, 0x1004u, 0x100cu, 0x1024u})
        EXPECT_FALSE(sites.find(none)) << none;
    EXPECT_EQ(sites.crc(0), crc);
}

TEST(SiteTable, CrcIsOverLinkTimeAddresses) {
    std::vector<std::uint64_t> here{0x1ff8, 0x2018}, linked{0x0ff8, 0x1018};
    SiteTable loaded, image;
    loaded.prepare(here);
    image.prepare(linked);
    EXPECT_EQ(loaded.crc(0x1000), image.crc(0));
    EXPECT_NE(loaded.crc(0), image.crc(0));
}

using Functions = std::vector<const void*>;

Functions at(std::initializer_list<std::uintptr_t> addresses) {
    Functions all;
    for (const std::uintptr_t address : addresses)
        all.push_back(reinterpret_cast<const void*>(address));
    return all;
}
using Bytes = std::vector<std::uint8_t>;
constexpr std::uint32_t crc = 0x12345678;

bool matches(const char* pattern, const std::string& name) {
    return glob_matches(pattern, name.data(), name.size());
}

// The definition takes exponential time, so patterns and names have up to five letters.
bool slow_matches(std::string_view pattern, std::string_view name) {
    if (pattern.empty()) return name.empty();
    if (pattern[0] == '*') {
        return slow_matches(pattern.substr(1), name) ||
               (!name.empty() && slow_matches(pattern, name.substr(1)));
    }
    return !name.empty() && (pattern[0] == '?' || pattern[0] == name[0]) &&
           slow_matches(pattern.substr(1), name.substr(1));
}
std::vector<std::string> words(const std::string& letters, std::size_t longest) {
    std::vector<std::string> all{""};
    for (std::size_t from = 0; from < all.size(); ++from) {
        if (all[from].size() == longest) break;
        for (const char letter : letters) all.push_back(std::string(all[from]) + letter);
    }
    return all;
}
TEST(Glob, AgreesWithItsDefinition) {
    for (const std::string& pattern : words("ab*?", 5)) {
        for (const std::string& name : words("ab", 5)) {
            ASSERT_EQ(matches(pattern.c_str(), name), slow_matches(pattern, name))
                << pattern << " " << name;
        }
    }
}

// Builds a table as names.hpp describes it.
struct Made {
    std::uint32_t sites = 0;
    Bytes blocks, names;

    static void append(Bytes& to, std::uint32_t value) {
        for (unsigned i = 0; i < 4; ++i) to.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
    }
    void add(unsigned shared, const std::string& rest) {
        if (sites++ % protocol::names_per_block == 0)
            append(blocks, static_cast<std::uint32_t>(names.size()));
        names.push_back(static_cast<std::uint8_t>(shared));
        names.push_back(static_cast<std::uint8_t>(rest.size()));
        names.insert(names.end(), rest.begin(), rest.end());
    }
    void add_alias(const std::string& name) {  // of the last site
        names.insert(names.end(),
                     {protocol::alias_mark, 0, static_cast<std::uint8_t>(name.size())});
        names.insert(names.end(), name.begin(), name.end());
    }
    Bytes bytes() const {
        Bytes all;
        for (const std::size_t word : {std::size_t{protocol::names_magic}, std::size_t{sites},
                                       std::size_t{crc}, names.size()})
            append(all, static_cast<std::uint32_t>(word));
        for (const Bytes& part : {blocks, names}) all.insert(all.end(), part.begin(), part.end());
        return all;
    }
};
std::string name_of(protocol::NameCursor& cursor, std::uint32_t index) {
    return cursor.seek(index) ? std::string(cursor.data(), cursor.size()) : "-";
}
Made numbered(unsigned count) {
    Made made;
    for (unsigned i = 0; i < count; ++i) {
        const bool first = i % protocol::names_per_block == 0;
        made.add(first ? 0 : 3, (first ? "fn_" : "") + std::to_string(i));
        if (i % 3 != 0) continue;
        for (const char* const of : {"fn_alias_", "fn_other_"})
            made.add_alias(of + std::to_string(i));
    }
    return made;
}

TEST(NameTable, IsReadInAnyOrder) {
    const Bytes bytes = numbered(100).bytes();
    const protocol::NameTable table(bytes.data(), bytes.size(), 100, crc);
    ASSERT_EQ(table.size(), 100u);
    protocol::NameCursor cursor(table);
    for (const unsigned none : {100u, 1u << 20}) EXPECT_EQ(name_of(cursor, none), "-");
    const protocol::NameTable empty;
    protocol::NameCursor nowhere(empty);
    EXPECT_EQ(name_of(nowhere, 0), "-");
    std::mt19937 random(1);
    for (unsigned n = 0; n < 1100; ++n) {
        const unsigned i = n < 100 ? n : random() % 100;
        EXPECT_EQ(name_of(cursor, i), "fn_" + std::to_string(i));
    }
}

TEST(NameTable, ATableThatIsNotTheImagesIsRefused) {
    const Bytes good = numbered(20).bytes();
    const auto size = [](const Bytes& bytes, std::uint32_t sites = 20, std::uint32_t of = crc) {
        return protocol::NameTable(bytes.data(), bytes.size(), sites, of).size();
    };
    EXPECT_EQ(std::tuple(size(good), size(good, 19), size(good, 20, crc + 1)),
              std::tuple(20u, 0u, 0u));
    Bytes later = good;
    ++later[3];  // another version
    EXPECT_EQ(size(later), 0u);
    for (std::size_t cut = 0; cut < good.size(); ++cut)
        EXPECT_EQ(size({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(cut)}), 0u) << cut;
    Bytes padded = good;
    padded.push_back(0);  // the section may be padded
    EXPECT_EQ(size(padded), 20u);
}

TEST(NameTable, WhatCannotBeANameIsNone) {
    Made made;
    made.add(0, "alpha");
    made.add(6, "x");  // shares more than the name before has
    made.add(0, "lost");
    for (unsigned i = 3; i < 16; ++i) made.add(0, "");
    made.add(0, std::string(200, 'y'));   // the next block is undamaged
    made.add(200, std::string(56, 'z'));  // longer than 255
    const Bytes bytes = made.bytes();
    const protocol::NameTable table(bytes.data(), bytes.size(), 18, crc);
    protocol::NameCursor cursor(table);
    for (const unsigned none : {1u, 2u, 17u}) EXPECT_EQ(name_of(cursor, none), "-");
    EXPECT_EQ(name_of(cursor, 0), "alpha");
    EXPECT_EQ(name_of(cursor, 16), std::string(200, 'y'));
}

// Any bytes in any order: the reader ends and stays inside the table (the sanitizers check it).
TEST(NameTable, CorruptBytesDoNoHarm) {
    const Bytes good = numbered(40).bytes();
    std::mt19937 random(7);
    unsigned differ = 0;
    for (unsigned n = 0; n < 20000; ++n) {
        Bytes bytes = good;
        for (unsigned flips = 1 + random() % 4; flips > 0; --flips) {
            bytes[protocol::names_header_bytes +
                  random() % (bytes.size() - protocol::names_header_bytes)] =
                static_cast<std::uint8_t>(random());
        }
        const protocol::NameTable table(bytes.data(), bytes.size(), 40, crc);
        ASSERT_EQ(table.size(), 40u);
        protocol::NameCursor cursor(table);
        for (unsigned reads = 0; reads < 20; ++reads) {
            const unsigned i = random() % 40;
            const std::string name = name_of(cursor, i);
            ASSERT_LE(name.size(), protocol::max_name_bytes);
            differ += name != "fn_" + std::to_string(i);
        }
    }
    EXPECT_GT(differ, 1000u);
}

// Twenty functions, 16 bytes apart. The site of one is refused.
struct SelectionTest : ::testing::Test {
    SelectionTest() {
        for (unsigned i = 0; i < 20; ++i) entries.push_back(0x1000 + 16 * i - 8);
        sites.prepare(entries);
        sites.set(15, sites[15].refused());
    }
    Indexes chosen(const Sites& which, const Functions& except = {}) {
        SiteNameFilter selection(sites, table, which, except);
        EXPECT_EQ(selection.status(), Status::ok);
        const Indexes indexes = usable_of(selection);
        if (!except.empty()) return indexes;
        // The complement visits exactly the other sites.
        SiteNameFilter rest = SiteNameFilter::others(sites, table, which);
        EXPECT_EQ(rest.status(), Status::ok);
        Indexes all = usable_of(rest);
        all.insert(all.end(), indexes.begin(), indexes.end());
        std::sort(all.begin(), all.end());
        EXPECT_EQ(all, (Indexes{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 17, 18, 19}));
        return indexes;
    }
    Status status(const Sites& which, const Functions& except = {}) {
        return SiteNameFilter(sites, table, which, except).status();
    }
    Indexes usable_of(SiteNameFilter& selection) {
        Indexes indexes;
        selection.for_each_run([&](std::uint32_t first, std::uint32_t last) {
            EXPECT_LT(first, last);
            for (; first < last; ++first)
                if (sites.usable(first)) indexes.push_back(first);
            return true;
        });
        return indexes;
    }
    std::vector<std::uint64_t> entries;
    SiteTable sites;
    Bytes bytes = numbered(20).bytes();
    protocol::NameTable table{bytes.data(), bytes.size(), 20, crc};
};

TEST_F(SelectionTest, AllARangeOrAList) {
    EXPECT_EQ(chosen(Sites::all()).size(), 19u);
    EXPECT_EQ(chosen(Sites::range(3, 2)), (Indexes{3, 4}));
    EXPECT_EQ(chosen(Sites::range(0, 2)), (Indexes{0, 1}));
    EXPECT_EQ(chosen(Sites::range(18, 9)), (Indexes{18, 19}));
    EXPECT_EQ(chosen(Sites::range(27, 9)), Indexes{});
    EXPECT_EQ(chosen(Sites::of(at({0x1060, 0x1000}))), (Indexes{6, 0}));
}

TEST_F(SelectionTest, ExceptIsLeftOut) {
    EXPECT_EQ(chosen(Sites::range(3, 4), at({0x1040})), (Indexes{3, 5, 6}));
    EXPECT_EQ(chosen(Sites::range(4, 2), at({0x1040})), Indexes{5});
    const Functions ends = at({0x1130, 0x1000, 0x1130}), listed = at({0x1040, 0x1000, 0x1020});
    EXPECT_EQ(chosen(Sites::range(0, 3), ends), (Indexes{1, 2}));
    EXPECT_EQ(chosen(Sites::range(17, 9), ends), (Indexes{17, 18}));
    EXPECT_EQ(chosen(Sites::range(0, 1), ends), Indexes{});
    EXPECT_EQ(chosen(Sites::of(listed), ends), (Indexes{4, 2}));
    EXPECT_EQ(chosen(Sites::of(listed), listed), Indexes{});
}

TEST_F(SelectionTest, StopsWhenTold) {
    const Functions listed = at({0x1060, 0x1020, 0x1000}), except = at({0x1020});
    for (const Sites& which : {Sites::all(), Sites::of(listed)}) {
        unsigned runs = 0;
        Selection(sites, which, except).for_each_run([&](std::uint32_t, std::uint32_t) {
            return ++runs, false;
        });
        EXPECT_EQ(runs, 1u);
    }
}

TEST_F(SelectionTest, VisitsWhatThePatternMatches) {
    EXPECT_EQ(chosen(Sites::named("fn_7")), (Indexes{7}));
    EXPECT_EQ(chosen(Sites::named("fn_1?")), (Indexes{10, 11, 12, 13, 14, 16, 17, 18, 19}));
    EXPECT_EQ(chosen(Sites::named("*9")), (Indexes{9, 19}));
    EXPECT_EQ(chosen(Sites::named("*")).size(), 19u);
    for (const char* const alias : {"fn_alias_12", "*other_12", "*_12"})
        EXPECT_EQ(chosen(Sites::named(alias)), (Indexes{12})) << alias;
    EXPECT_EQ(chosen(Sites::named("fn_alias_*")), (Indexes{0, 3, 6, 9, 12, 18}));
    EXPECT_EQ(chosen(Sites::named("fn_1?").without(Sites::named("fn_other_*"))),
              (Indexes{10, 11, 13, 14, 16, 17, 19}));
}

TEST_F(SelectionTest, LessThoseOfAnother) {
    EXPECT_EQ(chosen(Sites::named("fn_1*").without(Sites::range(0, 17))), (Indexes{17, 18, 19}));
    EXPECT_EQ(chosen(Sites::range(3, 4).without(Sites::named("*5"))), (Indexes{3, 4, 6}));
    EXPECT_EQ(chosen(Sites::named("*9").without(Sites::named("fn_9"))), (Indexes{19}));
    const Functions some = at({0x1040, 0x1060});
    EXPECT_EQ(chosen(Sites::range(3, 4).without(Sites::of(some))), (Indexes{3, 5}));
    EXPECT_EQ(chosen(Sites::of(some).without(Sites::range(6, 1))), (Indexes{4}));
    EXPECT_EQ(chosen(Sites::all().without(Sites::all())), Indexes{});
}

TEST_F(SelectionTest, WhatIsNotThereIsSaid) {
    const Functions strangers = at({0x1000, 0x1004}), refused = at({0x10f0});
    const Sites unknown[] = {Sites::of(strangers), Sites::of(refused), Sites::named("fn_20"),
                             Sites::named("fn_15")};
    for (const Sites& which : unknown) EXPECT_EQ(status(which), Status::unknown_function);
    EXPECT_EQ(status(Sites::all(), strangers), Status::unknown_function);
    for (const Sites& less : {Sites::named("nobody"), Sites::of(strangers)})
        EXPECT_EQ(status(Sites::all().without(less)), Status::unknown_function);
    table = {};
    for (const Sites& which : {Sites::named("fn_7"), Sites::all().without(unknown[2])})
        EXPECT_EQ(status(which), Status::no_names);
    EXPECT_EQ(chosen(Sites::range(3, 2)), (Indexes{3, 4}));
}

}  // namespace nopscope::sites_test
