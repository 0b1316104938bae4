// SPDX-License-Identifier: Apache-2.0
#include "tracer/core/site_table.hpp"
#include "tracer/patching/selection.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace nopscope {
namespace {

TEST(SiteTable, SortsAndDropsEmptyAndRepeatedEntries) {
    std::vector<std::uint64_t> entries{0x1018, 0, 0x1098, 0x1038, 0x1018, 0};
    SiteTable sites;
    EXPECT_EQ(sites.prepare(entries), 3u);
    ASSERT_EQ(sites.size(), 3u);
    EXPECT_EQ(sites.function(0), 0x1020u);
    EXPECT_EQ(sites.function(1), 0x1040u);
    EXPECT_EQ(sites.function(2), 0x10a0u);
}

TEST(SiteTable, EmptyTableFindsNothing) {
    SiteTable sites;
    EXPECT_EQ(sites.prepare({}), 0u);
    EXPECT_EQ(sites.size(), 0u);
    EXPECT_FALSE(sites.find(0x1000));
}

TEST(SiteTable, RefusedSiteKeepsItsIndexAndIsNotFound) {
    std::vector<std::uint64_t> entries{0xff8, 0x1018, 0x1038};
    SiteTable sites;
    sites.prepare(entries);
    const std::uint32_t crc = sites.crc(0);
    sites.set(1, sites[1].refused());
    EXPECT_FALSE(sites.usable(1));
    EXPECT_EQ(sites.function(1), 0x1020u);
    EXPECT_EQ(sites.find(0x1000), 0u);
    EXPECT_FALSE(sites.find(0x1020));
    EXPECT_EQ(sites.find(0x1040), 2u);
    EXPECT_FALSE(sites.find(0x1041));
    EXPECT_EQ(sites.crc(0), crc) << "host and target must agree whatever was refused";
}

// The address does not contain the layout's bit.
TEST(SiteTable, LandingPadsAreFound) {
    std::vector<std::uint64_t> entries{0xff8, 0x1000, 0x1018};
    SiteTable sites;
    sites.prepare(entries);
    const std::uint32_t crc = sites.crc(0);
    for (std::uint32_t i = 0; i < 3; ++i) sites.set(i, SiteEntry::of({sites.function(i), i != 1}));
    EXPECT_EQ(sites.function(0), 0x1000u);
    EXPECT_EQ(sites.find(0x1000), 0u);
    EXPECT_EQ(sites.find(0x1008), 1u);
    EXPECT_EQ(sites.find(0x1020), 2u);
    for (const Address none : {0xff8u, 0x1004u, 0x100cu, 0x1024u})
        EXPECT_FALSE(sites.find(none)) << none;
    EXPECT_EQ(sites.crc(0), crc);
}

TEST(SiteTable, CrcIsOverLinkTimeAddresses) {
    std::vector<std::uint64_t> here{0x1ff8, 0x2018};
    std::vector<std::uint64_t> linked{0x0ff8, 0x1018};
    SiteTable loaded, image;
    loaded.prepare(here);
    image.prepare(linked);
    EXPECT_EQ(loaded.crc(0x1000), image.crc(0));
    EXPECT_NE(loaded.crc(0), image.crc(0));
}

class SelectionTest : public ::testing::Test {
protected:
    SelectionTest() { sites.prepare(entries); }
    static const void* function(std::uint64_t address) {
        return reinterpret_cast<const void*>(address);
    }
    std::vector<std::uint32_t> visited(const Sites& which,
                                       std::span<const void* const> except = {}) {
        const Selection selection(sites, which, except);
        if (!selection.known()) return {~0u};
        return of(selection);
    }
    std::vector<std::uint32_t> of(const Selection& selection) {
        std::vector<std::uint32_t> indexes;
        selection.for_each_run([&](std::uint32_t first, std::uint32_t last) {
            EXPECT_LT(first, last);
            for (; first < last; ++first) indexes.push_back(first);
            return true;
        });
        return indexes;
    }
    std::vector<std::uint32_t> others(const Sites& which) {
        return of(Selection::others(sites, which));
    }
    void refuse(std::uint32_t index) { sites.set(index, sites[index].refused()); }
    using Indexes = std::vector<std::uint32_t>;
    std::vector<std::uint64_t> entries{0xff8, 0x1018, 0x1038, 0x1058};
    const void* const functions[3] = {function(0x1060), function(0x1020), function(0x1000)};
    SiteTable sites;
};

TEST_F(SelectionTest, AllRangeAndList) {
    EXPECT_EQ(visited(Sites::all()), (Indexes{0, 1, 2, 3}));
    EXPECT_EQ(visited(Sites::range(1, 2)), (Indexes{1, 2}));
    EXPECT_EQ(visited(Sites::range(3, 9)), (Indexes{3}));
    EXPECT_EQ(visited(Sites::range(7, 9)), Indexes{});
    const void* const listed[] = {function(0x1060), function(0x1000)};
    EXPECT_EQ(visited(Sites::of(listed)), (Indexes{3, 0}));
}

TEST_F(SelectionTest, ExceptIsLeftOut) {
    const void* const except[] = {function(0x1020)};
    EXPECT_EQ(visited(Sites::all(), except), (Indexes{0, 2, 3}));
    EXPECT_EQ(visited(Sites::range(1, 2), except), Indexes{2});
    const void* const ends[] = {function(0x1060), function(0x1000), function(0x1060)};
    EXPECT_EQ(visited(Sites::all(), ends), (Indexes{1, 2}));
    EXPECT_EQ(visited(Sites::range(0, 1), ends), Indexes{});
    const void* const listed[] = {function(0x1040), function(0x1000), function(0x1020)};
    EXPECT_EQ(visited(Sites::of(listed), ends), (Indexes{2, 1}));
    EXPECT_EQ(visited(Sites::of(listed), listed), Indexes{});
}

TEST_F(SelectionTest, StopsWhenTold) {
    for (const Sites& which : {Sites::all(), Sites::of(functions)}) {
        unsigned runs = 0;
        const void* const except[] = {functions[1]};
        Selection(sites, which, except).for_each_run([&](std::uint32_t, std::uint32_t) {
            return ++runs, false;
        });
        EXPECT_EQ(runs, 1u);
    }
}

TEST_F(SelectionTest, Others) {
    EXPECT_EQ(others(Sites::all()), Indexes{});
    EXPECT_EQ(others(Sites::range(1, 2)), (Indexes{0, 3}));
    EXPECT_EQ(others(Sites::range(0, 1)), (Indexes{1, 2, 3}));
    EXPECT_EQ(others(Sites::range(7, 1)), (Indexes{0, 1, 2, 3}));
    EXPECT_EQ(others(Sites::of(functions)), Indexes{2});
}

TEST_F(SelectionTest, UnknownAndRefusedFunctionsAreNotKnown) {
    const void* const unknown[] = {function(0x1000), function(0x1004)};
    EXPECT_EQ(visited(Sites::of(unknown)), Indexes{~0u});
    EXPECT_EQ(visited(Sites::all(), unknown), Indexes{~0u});
    const void* const refused[] = {function(0x1000)};
    refuse(0);
    EXPECT_EQ(visited(Sites::of(refused)), Indexes{~0u});
}

}  // namespace
}  // namespace nopscope
