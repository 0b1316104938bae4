// SPDX-License-Identifier: Apache-2.0
// RTT's rings, with the probe's side played by the test.
#include "hal/drivers/rtt.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <random>

namespace nopscope::hal {
namespace {

using Block = RttBlock<64, 16>;
struct NoBarrier {
    void operator()() const {}
};

class RttTest : public ::testing::Test {
protected:
    static constexpr std::uint64_t address = 0x4000'1000;
    // As a probe does: by the addresses in the block.
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
    Rtt<Block, NoBarrier> rtt{block, address};
};

TEST_F(RttTest, TheBlockIsWhatAProbeLooksFor) {
    ASSERT_TRUE(rtt.start());
    EXPECT_EQ(std::memcmp(const_cast<char*>(block.id), "SEGGER RTT\0\0\0\0\0\0", 16), 0);
    EXPECT_EQ(block.up_count, 1);
    EXPECT_EQ(block.down_count, 1);
    EXPECT_STREQ(reinterpret_cast<const char*>(const_cast<std::uint8_t*>(at(block.up.name))), "nopscope");
    EXPECT_EQ(at(block.up.buffer), block.up_buffer);
    EXPECT_EQ(at(block.down.buffer), block.down_buffer);
    EXPECT_EQ(block.up.bytes, 64u);
    EXPECT_EQ(block.down.bytes, 16u);
}
TEST_F(RttTest, OnlyBelow4GiB) {
    Rtt<Block, NoBarrier> high(block, 0xffff'ff80);
    EXPECT_FALSE(high.start());
}
TEST_F(RttTest, BothWaysInOrderAndNeverTooMuch) {
    ASSERT_TRUE(rtt.start());
    std::mt19937 random(2);
    std::deque<int> up, down;
    for (int step = 0; step < 20000; ++step) {
        const auto byte = static_cast<std::uint8_t>(random());
        const std::uint32_t room = rtt.room();
        ASSERT_EQ(rtt.waiting(), up.size());
        ASSERT_EQ(room, 63 - up.size());
        switch (random() % 4) {
            case 0:
                ASSERT_EQ(rtt.put(byte), room != 0);
                if (room != 0) up.push_back(byte);
                break;
            case 1: {
                const int got = read();
                ASSERT_EQ(got, up.empty() ? -1 : up.front());
                if (got >= 0) up.pop_front();
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
    ASSERT_TRUE(rtt.start());
    std::uint8_t byte = 0;
    for (const std::uint32_t bad : {64u, 65u, ~0u}) {
        block.up.read = bad;
        EXPECT_FALSE(rtt.put(1));
        block.up.read = 0;
        block.down.write = bad;
        EXPECT_FALSE(rtt.get(byte));
        block.down.write = 0;
    }
    EXPECT_TRUE(rtt.put(1));
}

}  // namespace
}  // namespace nopscope::hal
