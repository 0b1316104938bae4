// SPDX-License-Identifier: Apache-2.0
// When a pump may make a request, by the code below it; and the lock that requests share.
#include "tracer/patching/request_lock.hpp"

#include "tests/verification/simulator/sim_machine.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace nopscope::request_lock_test {

using Code = CodeRange;

struct MayRequest : ::testing::Test {
    MayRequest() {
        for (std::uint64_t& guard : core.guards) guard = 1;
    }
    bool at(unsigned depth, Address pc, std::span<const Code> unguarded) {
        return may_request<sim::SimMachine>(core, depth, pc, unguarded);
    }
    Core core{};
    const Code code[2] = {{0x1000, 0x1040}, {0x3000, 0x3080}};
};

TEST_F(MayRequest, NotOnTopOfACallback) {
    for (unsigned depth = 0; depth < 3; ++depth) {
        EXPECT_TRUE(at(depth, 0x2000, {}));
        core.guards[depth] = 0;
        for (unsigned here = 0; here < 3; ++here) EXPECT_FALSE(at(here, 0x2000, {}));
        core.guards[depth] = 1;
    }
    core.unguarded = 0x8000;
    EXPECT_FALSE(at(0, 0, {}));
    EXPECT_FALSE(at(1, 0x2000, {}));
}

TEST_F(MayRequest, NotOnTopOfUnguardedCode) {
    EXPECT_TRUE(at(0, 0x1000, code));  // thread context: the pc has no meaning
    EXPECT_TRUE(at(1, 0xffc, code));
    EXPECT_FALSE(at(1, 0x1000, code));
    EXPECT_FALSE(at(1, 0x307c, code));
    EXPECT_TRUE(at(1, 0x3080, code));
    // A handler may be on top of such code.
    for (const unsigned depth : {2u, unknown_depth}) {
        EXPECT_FALSE(at(depth, 0x2000, code));
        EXPECT_TRUE(at(depth, 0x2000, {}));
    }
}

void no_wait() {}

TEST(RequestLockTest, APumpGetsItOnlyWhenNobodyHasIt) {
    sim::SimMachine machine(0, 64);
    RequestLock<sim::SimMachine> lock(machine);
    EXPECT_TRUE(lock.try_lock(1));
    EXPECT_FALSE(lock.try_lock(1));
    lock.lock(1, no_wait);  // a request inside the request
    lock.unlock();
    EXPECT_FALSE(lock.try_lock(2));
    lock.unlock();
    EXPECT_TRUE(lock.try_lock(2));
}

// The holder, on core 1, waits for core 0's answer to its call, and then finishes.
struct Waited : sim::SimMachine {
    Waited() : SimMachine(0, 64) {}
    bool synchronize_other_cores() {
        current = 1;
        done();
        current = 0;
        return true;
    }
    std::function<void()> done;
};

TEST(RequestLockTest, AWaitingCoreServesTheHoldersCalls) {
    Waited machine;
    RequestLock<Waited> lock(machine);
    machine.done = [&] { lock.unlock(); };
    machine.current = 1;
    lock.lock(1, no_wait);
    machine.current = 0;
    lock.lock(2, no_wait);
    EXPECT_FALSE(lock.try_lock(1));
}

// Both run on one core. The holder goes on when the other lets it.
TEST(RequestLockTest, ATaskWaitsForTheOneThatItHasPreempted) {
    sim::SimMachine machine(0, 64);
    RequestLock<sim::SimMachine> lock(machine);
    lock.lock(1, no_wait);
    unsigned waits = 0;
    lock.lock(2, [&] {
        if (++waits == 3) lock.unlock();
    });
    EXPECT_EQ(waits, 3u);
    EXPECT_FALSE(lock.try_lock(1));
}

}  // namespace nopscope::request_lock_test
