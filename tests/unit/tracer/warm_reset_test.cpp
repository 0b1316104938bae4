// SPDX-License-Identifier: Apache-2.0
// What a warm reset leaves in rings and header, and what the next boot makes of it.
#include "tests/unit/tracer/warm_reset_fixture.hpp"

#include <random>
#include <utility>

namespace nopscope::testing {
namespace {

using protocol::Kind;

TEST_F(WarmReset, WholeLapsSinceTheHeader) {
    for (const unsigned count : {1u, 10u, 100u, 500u, 2500u, 20000u}) {
        for (const unsigned laps : {0u, 1u, 2u, 3u, 4u, 15u, 62u}) {
            SCOPED_TRACE(::testing::Message() << count << ", " << laps);
            make(count);
            keep();
            make(laps * slots + 200);  // after the last header
            const std::uint64_t end = record_index(core.cursor);
            const std::uint64_t clock = machine.now;
            const Received received = boot();
            expect_true(received, end);
            EXPECT_EQ(received.events.back().clock, clock);
            EXPECT_EQ(found.refused, 0u);
            EXPECT_EQ(found.records, received.events.size());
            EXPECT_GE(found.records, std::min<std::uint64_t>(end, slots) - 1);
        }
    }
}

// In any lap, each call's record decodes to some site.
TEST_F(WarmReset, ReturnsTellTheLapWhereCallsDoNot) {
    for (std::uint64_t site = first_site; site < site_end; site += 8) sites.insert(site);
    for (const unsigned laps : {0u, 1u, 2u, 15u, 62u}) {
        keep();
        const std::uint64_t before = core.cursor;
        while (core.cursor < before + laps * ring_bytes + 200 * record_bytes) {
            ASSERT_TRUE(enter(first_site, 0x8000));
            leave();
        }
        const std::uint64_t end = record_index(core.cursor);
        const Received received = boot();
        ASSERT_FALSE(received.events.empty());
        EXPECT_EQ(received.events.back().index, end - 1);
        for (const protocol::Event& event : without_own(received.events)) {
            if (event.kind != Kind::entry) continue;
            ASSERT_EQ(event.site_offset, first_site - 0x1000) << event.index;
        }
    }
}

TEST_F(WarmReset, WhatWasAnnouncedIsAllInMemory) {
    make(5000);
    machine.poc_cleans.clear();
    pump.prepare_reset();
    expect_cleaned(core.ring, ring_bytes);
    expect_cleaned(reinterpret_cast<std::uintptr_t>(&kept), sizeof kept);
}

TEST_F(WarmReset, ThePumpCleansWhatIsNewABoundedPieceAtATime) {
    make(slots * 3 / 4);
    machine.poc_cleans.clear();
    keep();
    const std::size_t once = machine.poc_cleans.size();
    EXPECT_GE(once, 8u);
    EXPECT_LE(once, 4096 / 64 + 2 + sizeof kept / 64 + 1);
    for (int i = 0; i < 20; ++i) pump.run();
    expect_cleaned(core.ring, ring_bytes * 3 / 4);
}

// Both a header and records of the boot before are in memory.
TEST_F(WarmReset, ABootThatKeepsNothingLeavesNothingToFind) {
    make(500);
    pump.prepare_reset();
    ASSERT_TRUE(is_whole(kept, image));
    machine.poc_cleans.clear();
    keep_number_only(machine, kept, 20);
    EXPECT_EQ(machine.poc_cleans, std::set<Address>{reinterpret_cast<std::uintptr_t>(&kept)});
    pump.open(config, hello, 20, nullptr);
    make(500);
    keep();
    pump.prepare_reset();
    EXPECT_EQ(machine.poc_cleans.size(), 1u);
    EXPECT_TRUE(boot().events.empty());
    EXPECT_EQ(found.records + found.refused + found.headers_refused, 0u);
    EXPECT_TRUE(is_after_reset(kept));
    EXPECT_EQ(session_after(kept, machine.now), 21u);
    // Beginning a header does not make it whole.
    begin_keeping(machine, kept, image);
    EXPECT_FALSE(is_whole(kept, image));
}

TEST_F(WarmReset, ALineThatGoesOnIsCleanedAgain) {
    make(3);
    for (int i = 0; i < 5; ++i) pump.run();              // cleans the whole ring
    while (core.cleaned % 64 == 0) make(1), pump.run();  // until the end lies inside a line
    const auto slot = reinterpret_cast<std::uintptr_t>(ring_slot(core, core.cleaned));
    machine.poc_cleans.clear();
    make(1);
    pump.run();
    EXPECT_TRUE(is_cleaned(slot));
}

// After an unannounced reset, the header covers all frames sent, and is never half written.
TEST_F(WarmReset, TheHeaderIsUpToDateWheneverAFrameWasSent) {
    pump.set_mode(Mode::stream);
    make(100);
    pump.flush();
    make(100);
    pump.flush();
    EXPECT_EQ(kept.core[0].tail.position, core.tail);
}
// For any part of the last frame that reached the line.
TEST_F(WarmReset, AFrameThatAResetCutsIsSentAgain) {
    pump.set_mode(Mode::stream);
    std::uint64_t arrived = 0;
    unsigned cut = 0;
    for (int go = 0; go < 500; ++go) {
        make(20);
        const std::uint64_t now = machine.now += hz / 100;
        transmitter_room = 30;
        pump.run();
        for (const protocol::Event& event : receive().events) ASSERT_EQ(event.index, arrived++);
        cut += line_bytes.size() > 10;
        auto line = std::exchange(line_bytes, {});
        auto its_decoders = std::exchange(decoders, {});
        transmitter_room = any_number;
        const Received rest = boot();
        ASSERT_FALSE(rest.events.empty());
        EXPECT_LE(rest.events.front().index, arrived);
        EXPECT_EQ(rest.events.back().index, record_index(core.cursor) - 1);
        machine.now = now;
        line_bytes = std::move(line);
        decoders = std::move(its_decoders);
    }
    EXPECT_GE(arrived, 5000u);
    EXPECT_GE(cut, 100u);
}
TEST_F(WarmReset, AFrameWithoutRecordsHoldsNone) {
    pump.set_mode(Mode::stream);
    make(100);
    pump.flush();
    line_bytes.clear();
    transmitter_room = 3;
    pump.console("late", 4);
    pump.run();
    ASSERT_EQ(line_bytes.size(), 3u);
    EXPECT_EQ(kept.core[0].tail.position, core.tail);
}
TEST_F(WarmReset, AHeaderThatIsBeingWrittenIsNotWhole) {
    struct Looking : sim::SimMachine {
        Looking(const WarmResetHeader& at, const WarmResetImage& of)
            : SimMachine(0, 64), header(at), image(of) {}
        std::uint64_t clock() {
            EXPECT_FALSE(is_whole(header, image));
            return SimMachine::clock();
        }
        const WarmResetHeader& header;
        const WarmResetImage& image;
    };
    pump.prepare_reset();
    ASSERT_TRUE(is_whole(kept, image));
    Looking looking(kept, image);
    WarmResetWriter<Looking> keeper(looking);
    keeper.open(&kept, hz);
    keeper.keep_all(
        cores,
        {.session = 7, .console_dropped = 0, .flight = true, .lossless = false, .on_line = false});
    EXPECT_TRUE(is_whole(kept, image));
}

TEST_F(WarmReset, EachBitOfTheHeaderMatters) {
    make(3000);
    pump.prepare_reset();
    auto* const words = reinterpret_cast<std::uint64_t*>(&kept);
    const std::size_t count = offsetof(WarmResetHeader, core) / 8 + sizeof(WarmResetCore) / 8;
    for (std::size_t word = 0; word < count; ++word) {
        for (unsigned bit = 0; bit < 64; ++bit) {
            words[word] ^= std::uint64_t{1} << bit;
            EXPECT_TRUE(boot().events.empty()) << word << "." << bit;
            EXPECT_EQ(found.headers_refused, word == 0 ? 0u : 1u);
            words[word] ^= std::uint64_t{1} << bit;
        }
    }
    expect_true(boot(), record_index(core.cursor));
}

TEST_F(WarmReset, OfAnotherImageNothingIsRead) {
    make(3000);
    pump.prepare_reset();
    for (const WarmResetImage other :
         {WarmResetImage{3, 2, 1, hz}, WarmResetImage{1, 3, 1, hz}, WarmResetImage{1, 2, 2, hz},
          WarmResetImage{1, 2, 1, hz + 1}}) {
        const Recovered none = recovered(other);
        EXPECT_EQ(none.records, 0u);
        EXPECT_EQ(none.headers_refused, 1u);
    }
}

// One impossible record, and its neighbours.
TEST_F(WarmReset, WhatCannotBeIsLeftOutAlone) {
    constexpr std::uint64_t index = 50;
    const std::uint64_t clock = machine.now + index;
    const auto ret = [&](std::uint64_t entry) {
        return protocol::make_record(Kind::ret, static_cast<std::uint32_t>(entry << 1), clock);
    };
    const auto site = [&](std::uint32_t low, std::uint64_t at) {
        return protocol::make_record(Kind::call, low >> 3, at);
    };
    const struct {
        protocol::Record record;
        bool is_left_out;
    } cases[] = {{ret(index - 1), false},
                 {ret(index), true},
                 {ret(index + 1), true},
                 {protocol::make_record(Kind::extended, 14, clock), true},  // no such kind
                 {protocol::make_extended(protocol::Extended::masked, 0, clock), false},
                 {site(first_site, clock), false},
                 {site(first_site - 8, clock), true},
                 {site(first_site, clock - hz / 1000 + 5), false},
                 {site(first_site, clock - hz / 1000 - 5), true}};
    make(100);
    pump.prepare_reset();
    const auto good = memory[0].ring;
    for (const auto& [record, is_left_out] : cases) {
        memory[0].ring = good;
        const std::uint64_t position = ring_bytes + index * record_bytes;
        write_late(position, record);
        const Received received = boot();
        EXPECT_EQ(found.refused, is_left_out ? 1u : 0u) << std::hex << record.word;
        EXPECT_EQ(std::count_if(received.events.begin(), received.events.end(),
                                [&](const protocol::Event& event) { return event.index == index; }),
                  is_left_out ? 0 : 1);
        EXPECT_EQ(received.events.back().index, 99u);
    }
}

// A slot was claimed before the header was written, and is still not written at the reset.
TEST_F(WarmReset, HolesBeforeTheHeadersCursor) {
    const Core fresh = core;
    for (const std::uint64_t count :
         {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{3}, 3 * slots / 4, slots, slots + 3,
          7 * slots / 4, 2 * slots + 2}) {
        for (const unsigned holes : {1u, 2u, 60u}) {
            core = fresh;
            std::fill(memory[0].ring.begin(), memory[0].ring.end(), 0);
            make(static_cast<unsigned>(count));
            core.cursor += holes * record_bytes;
            pump.prepare_reset();
            const Received received = boot();
            if (count != 0)
                expect_true(received, count, holes);
            else
                EXPECT_EQ(found.records, 0u);
        }
    }
}

// The code that the reset interrupted had claimed a slot.
TEST_F(WarmReset, AHoleDoesNotEndTheRing) {
    make(100);
    pump.prepare_reset();
    for (unsigned holes = 0; holes < 3; ++holes) {
        core.cursor += record_bytes;
        make(5);
    }
    const Received received = boot();
    EXPECT_EQ(without_own(received.events).size(), 115u);
    EXPECT_EQ(received.events.back().index, 117u);
}

// For any ring, the boot sends no impossible record, and counts all that it leaves out.
TEST_F(WarmReset, ASpoiledRing) {
    std::mt19937_64 random(3);
    make(5000);
    pump.prepare_reset();
    const auto good = memory[0].ring;
    for (int round = 0; round < 300; ++round) {
        memory[0].ring = good;
        for (unsigned i = 0; i < 1u + random() % 300; ++i) {
            std::uint64_t& word = memory[0].ring[random() % slots];
            word = random() % 2 == 0 ? random() : word ^ std::uint64_t{1} << random() % 64;
        }
        const Received received = boot();
        if (found.records == 0) continue;
        EXPECT_EQ(received.stats.back().delivered, received.events.size());
        for (const protocol::Event& event : without_own(received.events)) {
            if (event.kind == Kind::ret) continue;
            EXPECT_GE(event.site_offset, first_site - 0x1000);
            EXPECT_LT(event.site_offset, site_end - 0x1000);
        }
    }
}

}  // namespace
}  // namespace nopscope::testing
