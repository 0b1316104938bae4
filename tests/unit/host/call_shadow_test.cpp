// SPDX-License-Identifier: Apache-2.0
// The oracle's shadow stack (tests/verification/oracle/call_shadow.hpp), on made-up executions.
#include "tests/verification/oracle/call_shadow.hpp"
#include "tests/unit/host/test.hpp"

namespace nopscope::host::truth::call_shadow_test {

constexpr std::uint64_t stack = 0x9000, entry = 0x500, hook = 0x540, driver = 0x3000,
                        longjmp = 0x4100;

class Shadow : public testing::Test {
protected:
    Shadow() { shadow.go_on(clock); }

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
        for (unsigned i = 0; i + 1 < count; ++i) clock.executed();
        shadow.branch(last);
        clock.executed();
    }
    // Executes a site, its recorder, and `count` instructions of the function, with the site's two.
    void enter(std::uint32_t function, std::uint64_t return_address, unsigned count,
               Branch last = Branch::none) {
        registers.lr_ = return_address;
        shadow.begin_block({.address = 0x1000u + 0x100 * function}, registers);
        shadow.at_function();
        clock.executed();
        shadow.call(function, registers);
        shadow.branch(Branch::call);
        clock.executed();
        run(entry, 31, Branch::ret);
        is_body = true;
        run(0x1008u + 0x100 * function, count - 2, last);
    }
    void leave(std::uint64_t to, unsigned count = 1, unsigned hooks = 1) {
        for (unsigned i = 0; i < hooks; ++i) run(hook, 20, hook_leaves_by);
        run(to, count);
    }
    // Another core executes instructions meanwhile.
    void others(unsigned count) {
        for (unsigned i = 0; i < count; ++i) other_core.executed();
    }
    // As enter() and leave(), but the recorder reads the clock between these others.
    void enter_between(std::uint32_t function, std::uint64_t return_address, unsigned count,
                       unsigned before, unsigned after) {
        registers.lr_ = return_address;
        shadow.begin_block({.address = 0x1000u + 0x100 * function}, registers);
        shadow.at_function();
        clock.executed();
        shadow.call(function, registers);
        shadow.branch(Branch::call);
        clock.executed();
        read_between(entry, before, after);
        is_body = true;
        run(0x1008u + 0x100 * function, count - 2, Branch::ret);
    }
    void read_between(std::uint64_t address, unsigned before, unsigned after) {
        run(address, 10);
        others(before);
        shadow.reads_clock();
        others(after);
        run(address + 8, 10, Branch::ret);
    }
    // The program tells the tracer something.
    void tell(Tells what, unsigned before, unsigned after) {
        shadow.branch(Branch::call);
        shadow.begin_block({.address = entry, .tracer = true, .tells = what}, registers);
        read_between(entry, before, after);
    }

    std::vector<Counted> functions{4};
    std::vector<Range> tracer{{entry, 0x600}};
    CallPaths paths;
    std::uint64_t all = 0;
    CoreClock clock{all}, other_core{all};
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
    EXPECT_EQ(shadow.program(), 25u);
    EXPECT_EQ(clock.own, 25u + 2 * (31 + 20));
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
    EXPECT_EQ(shadow.program(), 35u);
    // A driver that the tracer enters by a jump is not a return from it.
    enter(0, 0x2000, 10);
    run(entry, 5, Branch::jump);
    run(driver, 50);
    EXPECT_EQ(shadow.program(), 45u);
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
    EXPECT_EQ(functions[0].below.longjmps, 1u);
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
    run(entry, 4);
    shadow.reads_clock();  // the work begins for the host
    run(entry, 200'000, Branch::call);
    run(driver, 50, Branch::ret);
    run(entry + 8, 5);
    shadow.reads_clock();
    run(entry + 8, 3);
    shadow.reads_clock();  // of a later record
    run(entry + 8, 2, Branch::ret);
    run(0x1040, 3, Branch::ret);
    registers.sp_ += 0x20;
    leave(0x2000);
    EXPECT_EQ(functions[0].self, 13u + 4 + 5);
    EXPECT_EQ(functions[0].asked, 4u + 5);  // the program has called it
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

TEST_F(Shadow, OtherCoresTimeIsOnTheSideOfTheReadingOfTheClock) {
    enter(0, 0x2000, 10, Branch::call);
    registers.sp_ -= 0x20;
    others(100);
    enter_between(1, 0x1040, 7, 1000, 2000);
    others(20);
    read_between(hook, 300, 4000);
    run(0x1040, 5, Branch::ret);
    registers.sp_ += 0x20;
    leave(0x2000);
    EXPECT_EQ(functions[0].self, 15u + 100 + 1000 + 4000);
    EXPECT_EQ(functions[1].self, 7u + 2000 + 20 + 300);
}

TEST_F(Shadow, EachOfSeveralTailCallsEndsAtItsHooksReading) {
    enter(0, 0x2000, 10, Branch::jump);
    enter(1, hook, 7, Branch::ret);
    read_between(hook, 100, 0);
    read_between(hook, 1000, 5);
    run(0x2000, 1);
    EXPECT_EQ(functions[1].self, 7u + 100);
    EXPECT_EQ(functions[0].self, 10u + 1000);
}

TEST_F(Shadow, WhatTheProgramAsksForIsItsOwn) {
    enter(0, 0x2000, 10);
    registers.sp_ -= 0x20;
    tell(Tells::other, 0, 0);
    run(0x1040, 3, Branch::ret);
    registers.sp_ += 0x20;
    leave(0x2000);
    EXPECT_EQ(functions[0].self, 33u);
    EXPECT_EQ(functions[0].asked, 20u);
}

TEST_F(Shadow, ATaskGoesOnOnAnotherCore) {
    CallShadow other{functions, tracer, {}, &paths};
    enter(0, 0x2000, 10);
    registers.sp_ -= 0x20;
    tell(Tells::switches, 100, 3000);
    run(0x1040, 4);
    other.go_on(clock, shadow.stop());
    EXPECT_FALSE(shadow.runs());
    others(50'000);
    for (unsigned i = 0; i < 70'000; ++i) clock.executed();
    shadow.go_on(other_core);
    others(8);  // its own now
    for (unsigned i = 0; i < 200; ++i) clock.executed();
    shadow.branch(Branch::ret);
    registers.sp_ += 0x20;
    shadow.begin_block({.address = hook, .tracer = true}, registers);
    shadow.branch(Branch::ret);
    shadow.begin_block({.address = 0x2000}, registers);
    // Until the switch's reading; 10 of the tracer's instructions were before it.
    EXPECT_EQ(functions[0].self, 10u + 10 + 100 + 8 + 200);
    EXPECT_EQ(functions[0].asked, 10u);
}

TEST_F(Shadow, ATaskThatGoesOnHasTheTimeSinceTheSwitch) {
    CallShadow other{functions, tracer, {}, &paths};
    enter(0, 0x2000, 10);
    other.go_on(other_core);
    other.at_function();
    other_core.executed();
    registers.lr_ = 0x2000;
    other.call(1, registers);
    (void)other.stop();
    registers.sp_ -= 0x20;
    tell(Tells::switches, 0, 3000);
    run(0x1040, 4);
    other.go_on(clock, shadow.stop());
    (void)other.stop();
    shadow.finish();
    other.finish();
    EXPECT_EQ(functions[1].self, 1u + 3000 + 10 + 4);
    EXPECT_EQ(functions[1].open, 1u);
}

TEST_F(Shadow, AnInterruptBeginsAndEndsWhenItIsTold) {
    enter(0, 0x2000, 10);
    run(0x800, 6, Branch::call);
    registers.sp_ -= 0x100;
    tell(Tells::interrupt_begins, 100, 0);
    run(0x850, 3, Branch::call);
    enter(1, 0x860, 7, Branch::ret);
    leave(0x860, 3);
    tell(Tells::interrupt_ends, 0, 1000);
    run(0x870, 5);
    shadow.interrupt_ends();
    registers.sp_ += 0x100;
    run(0x1030, 2, Branch::ret);
    leave(0x2000);
    EXPECT_EQ(functions[0].self, 12u);
    // Ten of the tracer's instructions, which the interrupt asked for, are on each side.
    EXPECT_EQ(functions[0].interrupted, 6u + 10 + 100 + 1000 + 10 + 5);
    EXPECT_EQ(functions[1].self, 7u);
    EXPECT_EQ(functions[0].interrupts, 1u);
}

// The work's end and a new begin surround the interrupt; time in between is the function's.
TEST_F(Shadow, AnInterruptEndsTheTracersWorkForTheHost) {
    const auto empties_its_ring = [&](bool interrupted) {
        shadow.begin_block({.address = entry, .tracer = true, .makes_room = true}, registers);
        read_between(entry, 0, 5000);
        run(entry, 10);
        if (interrupted) {
            run(0x800, 6, Branch::call);
            tell(Tells::other, 0, 0);
            shadow.branch(Branch::call);
            shadow.begin_block({.address = entry, .tracer = true, .tells = Tells::interrupt_begins},
                               registers);
            shadow.reads_clock();  // masked since
            shadow.reads_clock();  // the work's end
            others(100);
            read_between(entry, 0, 0);
            run(0x850, 300, Branch::call);
            tell(Tells::interrupt_ends, 0, 0);
            run(0x870, 5);
            shadow.interrupt_ends();
            others(40);
        }
        shadow.reads_clock();
        others(7000);
        for (int i = 0; i < 3; ++i) shadow.reads_clock();
    };
    std::uint64_t self[2];
    for (const bool interrupted : {false, true}) {
        const std::uint64_t before = functions[0].self + functions[0].interrupted;
        enter(0, 0x2000, 10, Branch::call);
        registers.sp_ -= 0x20;
        empties_its_ring(interrupted);
        run(0x1040, 3, Branch::ret);
        registers.sp_ += 0x20;
        leave(0x2000);
        self[interrupted] = functions[0].self + functions[0].interrupted - before;
    }
    EXPECT_EQ(functions[0].cut, 1u);
    EXPECT_EQ(self[1] - self[0], 0u);
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

}  // namespace nopscope::host::truth::call_shadow_test
