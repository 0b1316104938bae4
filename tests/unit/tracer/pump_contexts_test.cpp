// SPDX-License-Identifier: Apache-2.0
// Switches of context in the ring, and what the pump makes of them; what is due at once.
#include "tests/unit/tracer/pump_fixture.hpp"

namespace nopscope {
namespace {

using testing::receive;
using testing::Received;
using wire::Extended;
using wire::Kind;

class PumpContexts : public testing::PumpTest {
protected:
    // As contexts.cpp does.
    void switch_to(std::uint32_t number, Core& of) {
        const Locked locked(machine, of.context_lock);
        of.context_number = number;
        of.unsaid = 1;
        ring_set_limit_locked(machine, of);
    }
    void switch_to(std::uint32_t number) { switch_to(number, here()); }
    // The context of each event, as a reader knows it.
    static std::vector<std::uint32_t> contexts_of(const Received& received) {
        std::vector<std::uint32_t> list;
        std::uint32_t now = 0;
        for (const wire::Event& event : received.events) {
            if (event.kind != Kind::extended) list.push_back(now);
            else if (event.extended == Extended::context) now = event.argument;
        }
        return list;
    }
};

TEST_F(PumpContexts, ASwitchIsARecordAndAFrameBeginsWithIt) {
    open();
    call(0x2000);
    switch_to(9);
    call(0x2008);
    pump.flush();
    machine.now += 3 * hz;  // time for a key frame
    call(0x2010);
    pump.flush();
    const Received received = receive();
    EXPECT_EQ(received.bad, 0u);
    EXPECT_EQ(contexts_of(received), (std::vector<std::uint32_t>{0, 9, 9}));
    ASSERT_EQ(received.traces.size(), 2u);
    EXPECT_EQ(received.traces[0].context, 0u);
    EXPECT_EQ(received.traces[1].context, 9u);
    EXPECT_EQ(received.traces[1].first_index, 3u);
}

TEST_F(PumpContexts, NoEntryComesBeforeItsSwitch) {
    open();
    while (call(0x2000)) {
    }
    for (std::uint32_t i = 1; i < 1000; ++i) {
        switch_to(i);
        ASSERT_FALSE(call(0x3000));
    }
    EXPECT_EQ(core.unsaid, 1u);
    pump.flush();
    EXPECT_EQ(core.unsaid, 0u);
    ASSERT_TRUE(call(0x4000));
    pump.flush();
    const Received received = receive();
    ASSERT_EQ(received.bad, 0u);
    EXPECT_EQ(contexts_of(received).back(), 999u);
    EXPECT_EQ(received.events.back().site_offset, 0x3000u);
}

TEST_F(PumpContexts, StoppedRecordingSaysItAtTheStart) {
    open();
    core.limit = 0;
    switch_to(3);
    switch_to(4);
    EXPECT_EQ(core.cursor, ring_bytes);
    core.limit = 1;
    ring_set_limit(machine, core);
    ASSERT_TRUE(call(0x2000));
    pump.flush();
    EXPECT_EQ(contexts_of(receive()), (std::vector<std::uint32_t>{4}));
}

TEST_F(PumpContexts, TheyAreNotTheTracersOwnRecords) {
    open();
    for (std::uint32_t i = 0; i < 100; ++i) switch_to(i);
    pump.flush();
    EXPECT_EQ(core.own_records, 0u);
    EXPECT_EQ(receive().bad, 0u);
}

TEST_F(PumpContexts, TheReserveKeepsEntriesOut) {
    open();
    core.reserve += 100 * record_bytes;
    ring_set_limit(machine, core);
    while (call(0x2000)) {
    }
    EXPECT_EQ(core.cursor - core.tail,
              ring_bytes - own_reserve_bytes - (shadow_frames + 100) * record_bytes);
}

TEST_F(PumpContexts, WhatIsAskedForIsDueAtOnce) {
    open();
    pump.run();
    (void)receive();
    call(0x2000);
    pump.run();
    EXPECT_TRUE(receive().events.empty());
    core.send_to = core.cursor;
    call(0x2008);
    pump.run();
    EXPECT_EQ(contexts_of(receive()).size(), 2u);
    call(0x2010);
    pump.run();
    EXPECT_TRUE(contexts_of(receive()).empty());
}

}  // namespace
}  // namespace nopscope
