// SPDX-License-Identifier: Apache-2.0
// RTT's rings. The test plays the probe.
#include "hal/drivers/rtt.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <random>
#include <tuple>

namespace nopscope::hal::rtt_test {

using Block = RttBlock<64, 16>;
unsigned barriers;
struct CountedBarrier {
    void operator()() const { ++barriers; }
};

struct RttTest : ::testing::Test {
    static constexpr std::uint64_t address = 0x4000'1000;
    RttTest() { EXPECT_TRUE(rtt.start(address)); }
    // Finds memory as a probe does: by the addresses in the block.
    volatile std::uint8_t* at(std::uint32_t where) {
        return reinterpret_cast<volatile std::uint8_t*>(&block) + (where - address);
    }
    int read() {
        if (block.up.read == block.up.write) return -1;
        const int byte = at(block.up.buffer)[block.up.read];
        block.up.read = (block.up.read + 1) % block.up.bytes;
        return byte;
    }
    bool write(std::uint8_t byte) {
        const std::uint32_t next = (block.down.write + 1) % block.down.bytes;
        if (next == block.down.read) return false;
        at(block.down.buffer)[block.down.write] = byte;
        block.down.write = next;
        return true;
    }
    Block block = [] {
        Block dirty;
        std::memset(&dirty, 0xa5, sizeof dirty);
        return dirty;
    }();
    Rtt<Block, CountedBarrier> rtt{block};
};

TEST_F(RttTest, TheBlockIsWhatAProbeLooksFor) {
    EXPECT_EQ(std::memcmp(const_cast<char*>(block.id), "SEGGER RTT\0\0\0\0\0\0", 16), 0);
    EXPECT_EQ(block.up_count, 1);
    EXPECT_EQ(block.down_count, 1);
    EXPECT_STREQ(reinterpret_cast<const char*>(const_cast<std::uint8_t*>(at(block.up.name))),
                 "nopscope");
    EXPECT_EQ(std::tuple(static_cast<volatile void*>(at(block.up.buffer)), at(block.down.buffer),
                         block.up.bytes, block.down.bytes),
              std::tuple(block.up_buffer, block.down_buffer, 64u, 16u));
}
TEST_F(RttTest, OnlyBelow4GiB) { EXPECT_FALSE(rtt.start(0xffff'ff80)); }
TEST_F(RttTest, BothWaysInOrderAndNeverTooMuch) {
    std::mt19937 random(2);
    std::deque<int> up, down;
    std::size_t published = 0;  // bytes of `up`
    for (int step = 0; step < 20000; ++step) {
        const auto byte = static_cast<std::uint8_t>(random());
        const std::uint32_t room = rtt.room();
        ASSERT_EQ(rtt.waiting(), up.size());
        ASSERT_EQ(room, 63 - up.size());
        switch (random() % 4) {
        case 0: {
            const std::uint8_t sent = random() % 8 == 0 ? 0 : byte;
            ASSERT_EQ(rtt.put(sent), room != 0);
            if (room != 0) up.push_back(sent);
            if (room == 0 || sent == 0) published = up.size();
            break;
        }
        case 1: {
            const int got = read();
            ASSERT_EQ(got, published == 0 ? -1 : up.front());
            if (got < 0) break;
            up.pop_front();
            --published;
            break;
        }
        case 2:
            if (write(byte)) down.push_back(byte);
            break;
        default: {
            std::uint8_t got = 0;
            ASSERT_EQ(rtt.get(got), !down.empty());
            if (down.empty()) break;
            ASSERT_EQ(got, down.front());
            down.pop_front();
        }
        }
    }
}
TEST_F(RttTest, WhatAProbeSpoilsIsNotFollowed) {
    std::uint8_t byte = 0;
    for (const std::uint32_t bad : {64u, 65u, ~0u}) {
        block.up.read = bad;
        EXPECT_FALSE(rtt.put(1));
        block.up.read = 0;
        block.down.write = bad;
        EXPECT_FALSE(rtt.get(byte));
        block.down.write = 0;
    }
    // The target does not read back its own offsets. `Block` ends with a buffer, so ASan finds a
    // write beyond it.
    for (unsigned n = 0; n < 200; ++n) {
        block.up.write = ~0u;
        block.down.read = ~0u;
        EXPECT_TRUE(rtt.put(1));
        rtt.publish();
        EXPECT_EQ(block.up.write, (n + 1) % 64);
        block.up.read = block.up.write;
        block.down.write = (n + 1) % 16;
        block.down_buffer[n % 16] = 7;
        EXPECT_TRUE(rtt.get(byte));
        EXPECT_EQ(byte, 7);
    }
}
TEST_F(RttTest, TheProbeIsToldOfAWholeFrameAtOnce) {
    barriers = 0;
    for (const char* frame = "eleven byte"; *frame != 0; ++frame)
        EXPECT_TRUE(rtt.put(static_cast<std::uint8_t>(*frame)));
    EXPECT_EQ(block.up.write, 0u);
    EXPECT_EQ(barriers, 0u);
    EXPECT_TRUE(rtt.put(0));
    EXPECT_EQ(block.up.write, 12u);
    EXPECT_EQ(barriers, 1u);
    for (const char* frame = "eleven byte"; *frame != 0; ++frame) EXPECT_EQ(read(), *frame);
    // An incomplete frame is published on request, and when the ring is full.
    EXPECT_TRUE(rtt.put('a'));
    rtt.publish();
    rtt.publish();
    EXPECT_EQ(barriers, 2u);
    EXPECT_EQ(block.up.write, 13u);
    while (rtt.put('b')) {
    }
    EXPECT_EQ(barriers, 4u);  // the first one comes when put() finds what the probe has read
    EXPECT_EQ(rtt.room(), 0u);
    for (const int byte : {0, +'a'}) EXPECT_EQ(read(), byte);
}
// Rings as large as a target's.
TEST(RttBurst, AFrameOfManyBytesIsToldInBursts) {
    static RttBlock<1024, 16> block;
    Rtt<RttBlock<1024, 16>, CountedBarrier> rtt{block};
    ASSERT_TRUE(rtt.start(0x1000));
    barriers = 0;
    for (unsigned n = 0; n < 1000; ++n) EXPECT_TRUE(rtt.put('x'));
    EXPECT_EQ(barriers, 3u);
    EXPECT_EQ(block.up.write, 768u);
    rtt.publish();
    EXPECT_EQ(block.up.write, 1000u);
}

}  // namespace nopscope::hal::rtt_test
