// SPDX-License-Identifier: Apache-2.0
// The oracle's shadow stack (tests/verification/oracle/call_shadow.hpp), on made-up executions.
#include <gtest/gtest.h>

#include "tests/verification/oracle/call_shadow.hpp"

namespace nopscope::host::truth {
namespace {

constexpr std::uint64_t stack = 0x9000, entry = 0x500, hook = 0x540, driver = 0x3000,
                        longjmp = 0x4100;

class Shadow : public testing::Test {
protected:
    struct Registers {
        std::uint64_t sp_, lr_;
        std::uint64_t sp() const { return sp_; }
        std::uint64_t lr() const { return lr_; }
    };

    // Executes `count` instructions from `address` on. The last one is a branch of this kind.
    void run(std::uint64_t address, unsigned count, Branch last = Branch::none) {
        shadow.begin_block({.address = address,
                            .tracer = tracer[0].has(address),
                            .vector = address == 0x800,
                            .body = is_body,
                            .service = address == 0x5c0,
                            .longjmp = address == longjmp,
                            .boot = address == 0},
                           registers);
        is_body = false;
        for (unsigned i = 0; i + 1 < count; ++i) shadow.executed();
        shadow.branch(last);
        shadow.executed();
    }
    // Executes a site, its recorder, and `count` instructions of the function, with the site's two.
    void enter(std::uint32_t function, std::uint64_t return_address, unsigned count,
               Branch last = Branch::none) {
        registers.lr_ = return_address;
        shadow.begin_block({.address = 0x1000u + 0x100 * function}, registers);
        shadow.at_function();
        shadow.executed();
        shadow.call(function, registers);
        shadow.branch(Branch::call);
        shadow.executed();
        run(entry, 31, Branch::ret);
        is_body = true;
        run(0x1008u + 0x100 * function, count - 2, last);
    }
    void leave(std::uint64_t to, unsigned count = 1, unsigned hooks = 1) {
        for (unsigned i = 0; i < hooks; ++i) run(hook, 20, hook_leaves_by);
        run(to, count);
    }

    std::vector<Counted> functions{4};
    std::vector<Range> tracer{{entry, 0x600}};
    CallPaths paths;
    CallShadow shadow{functions, tracer, {0x8000, stack}, &paths};
    Registers registers{0x8f00, 0};
    bool is_body = false;
    Branch hook_leaves_by = Branch::ret;
};

TEST_F(Shadow, ACallHasTheInstructionsBetweenItsEntryAndItsReturn) {
    enter(0, 0x2000, 10, Branch::call);
    registers.sp_ -= 0x20;
    enter(1, 0x1040, 7, Branch::ret);
    leave(0x1040, 5, 1);
    registers.sp_ += 0x20;
    shadow.branch(Branch::ret);
    leave(0x2000, 3);
    EXPECT_EQ(functions[0].calls, 1u);
    EXPECT_EQ(functions[0].self, 15u);
    EXPECT_EQ(functions[0].inclusive, 22u);
    EXPECT_EQ(functions[1].self, 7u);
    EXPECT_EQ(functions[0].made, 1u);
    EXPECT_EQ(shadow.clock(), 25u);
    EXPECT_EQ(shadow.all_instructions(), 25u + 2 * (31 + 20));
}

TEST_F(Shadow, AResetEndsAllOpenCalls) {
    const auto last_path = [&] { return paths.paths().back(); };
    enter(0, 0x2000, 10, Branch::call);
    enter(1, 0x2100, 10);
    EXPECT_EQ(last_path().function, 1u);
    EXPECT_EQ(paths.paths()[last_path().around].function, 0u);
    run(0x800, 5, Branch::call);  // an interrupt
    enter(2, 0x2200, 10);
    EXPECT_EQ(paths.paths()[last_path().around].function, 1u);
    run(0, 5);
    enter(3, 0x2100, 10);
    EXPECT_EQ(last_path().function, 3u);
    EXPECT_EQ(last_path().around, 0u);
    run(0, 5);
    enter(0, 0x2000, 10, Branch::call);
    enter(1, 0x2100, 10);
    EXPECT_EQ(paths.paths().size(), 5u);  // none, 0, 0-1, 0-1-2, 3
    EXPECT_EQ(shadow.unexplained, 0u);
}

TEST_F(Shadow, TailCallsEndTogether) {
    enter(0, 0x2000, 10, Branch::jump);
    enter(1, hook, 7, Branch::ret);
    leave(0x2000, 1, 2);
    EXPECT_EQ(functions[0].jumps, 1u);
    EXPECT_EQ(functions[0].self, 10u);
    EXPECT_EQ(functions[0].inclusive, 17u);
    EXPECT_EQ(functions[1].self, 7u);
    EXPECT_EQ(shadow.unexplained, 0u);
}

// Without BTI. The shadow does not know yet that longjmp left the last call.
TEST_F(Shadow, AHookMayLeaveByAJump) {
    hook_leaves_by = Branch::jump;
    enter(0, 0x2000, 10, Branch::call);
    registers.sp_ -= 0x20;
    enter(1, 0x1040, 7, Branch::jump);
    enter(2, hook, 5, Branch::ret);
    leave(0x1040, 6, 2);
    enter(3, 0x1080, 4);
    registers.sp_ += 0x20;
    shadow.branch(Branch::ret);
    leave(0x2000, 3);
    EXPECT_EQ(functions[0].self, 16u);
    EXPECT_EQ(functions[0].inclusive, 32u);
    EXPECT_EQ(functions[1].inclusive, 12u);
    EXPECT_EQ(functions[2].self, 5u);
    EXPECT_EQ(functions[3].self, 4u);
    EXPECT_EQ(functions[3].unwound, 1u);
    EXPECT_EQ(shadow.clock(), 35u);
    // A driver that the tracer enters by a jump is not a return from it.
    enter(0, 0x2000, 10);
    run(entry, 5, Branch::jump);
    run(driver, 50);
    EXPECT_EQ(shadow.clock(), 45u);
}

TEST_F(Shadow, ARecursiveFunctionCountsOnce) {
    enter(0, 0x2000, 10, Branch::call);
    registers.sp_ -= 0x20;
    enter(0, 0x1040, 10, Branch::ret);
    leave(0x1040, 1);
    registers.sp_ += 0x20;
    leave(0x2000);
    EXPECT_EQ(functions[0].inclusive, 21u);
    EXPECT_EQ(functions[0].self, 21u);
}

TEST_F(Shadow, LongjmpLeavesTheCallsBelow) {
    enter(0, 0x2000, 10, Branch::call);
    registers.sp_ -= 0x20;
    enter(1, 0x1040, 7, Branch::call);
    registers.sp_ -= 0x20;
    enter(2, 0x1140, 5, Branch::call);
    registers.sp_ -= 0x20;
    run(0x4000, 20, Branch::ret);  // longjmp() itself, untraced
    registers.sp_ += 0x40;
    run(0x1050, 4, Branch::ret);
    registers.sp_ += 0x20;
    leave(0x2000);
    EXPECT_EQ(functions[2].self, 25u);
    EXPECT_EQ(functions[2].thrown, 1u);
    EXPECT_EQ(functions[1].self, 7u);
    EXPECT_EQ(functions[1].unwound, 1u);
    EXPECT_EQ(functions[0].self, 14u);
    EXPECT_EQ(functions[0].landings, 1u);
    EXPECT_EQ(functions[0].longjmps_below, 1u);
}

TEST_F(Shadow, AReportedLongjmpWorksForItsDestination) {
    enter(0, 0x2000, 10, Branch::call);
    registers.sp_ -= 0x20;
    enter(1, 0x1040, 7, Branch::call);
    registers.sp_ -= 0x20;
    run(0x580, 40, Branch::jump);  // the tracer is told
    run(longjmp, 20, Branch::ret);
    registers.sp_ += 0x20;
    run(0x1050, 4, Branch::ret);
    registers.sp_ += 0x20;
    leave(0x2000);
    EXPECT_EQ(functions[1].self, 7u);
    EXPECT_EQ(functions[1].thrown, 1u);
    EXPECT_EQ(functions[0].self, 34u);
    EXPECT_EQ(functions[0].inclusive, 41u);
}

TEST_F(Shadow, AnInterruptsInstructionsAreSeparate) {
    enter(0, 0x2000, 10);
    run(0x800, 6, Branch::call);
    registers.sp_ -= 0x100;
    enter(1, 0x850, 7, Branch::ret);
    leave(0x850, 3);
    shadow.interrupt_ends();
    registers.sp_ += 0x100;
    run(0x1030, 2, Branch::ret);
    leave(0x2000);
    EXPECT_EQ(functions[0].self, 12u);
    EXPECT_EQ(functions[0].interrupted, 9u);
    EXPECT_EQ(functions[0].inclusive, 28u);
    EXPECT_EQ(functions[1].self, 7u);
}

TEST_F(Shadow, CallsOfTheTracerBelongToIt) {
    enter(0, 0x2000, 10, Branch::call);
    registers.sp_ -= 0x20;
    run(entry, 200'000, Branch::call);
    run(driver, 50, Branch::ret);
    run(entry + 8, 5, Branch::ret);
    run(0x1040, 3, Branch::ret);
    registers.sp_ += 0x20;
    leave(0x2000);
    EXPECT_EQ(functions[0].self, 13u);
    EXPECT_EQ(functions[0].pumps, 1u);
}

TEST_F(Shadow, AServiceIsTheProgramsWork) {
    enter(0, 0x2000, 10, Branch::call);
    registers.lr_ = 0x1040;
    run(0x5c0, 30, Branch::ret);
    run(0x1040, 3, Branch::ret);
    leave(0x2000);
    EXPECT_EQ(functions[0].self, 43u);
}

TEST_F(Shadow, CallsThatItCannotFollowAreCounted) {
    registers.sp_ = 0x7000;
    enter(0, 0x2000, 10);
    EXPECT_EQ(shadow.foreign, 1u);
    registers.sp_ = 0x8f00;
    enter(1, hook, 10);
    EXPECT_EQ(shadow.unexplained, 1u);
    shadow.finish();
    EXPECT_EQ(functions[1].open, 1u);
    EXPECT_EQ(functions[0].self, 0u);
}

}  // namespace
}  // namespace nopscope::host::truth
