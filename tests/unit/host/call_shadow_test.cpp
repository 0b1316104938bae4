// SPDX-License-Identifier: Apache-2.0
// The oracle's shadow stack (tests/verification/oracle/call_shadow.hpp), on made-up executions.
#include "tests/verification/oracle/call_shadow.hpp"
#include "tests/unit/host/test.hpp"

namespace nopscope::host::truth::call_shadow_test {

using test::ElementsAre;

constexpr std::uint64_t stack = 0x9000, entry = 0x500, hook = 0x540, driver = 0x3000;

// What it counts as a reason for errors, and calls that it cannot follow. truth_test.py checks its
// times.
class Shadow : public testing::Test {
protected:
    Shadow() { shadow.go_on(clock); }

    static std::vector<std::uint64_t> numbers(auto... all) { return {all...}; }
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
                            .role = address == 0       ? Role::boot
                                    : address == 0x580 ? Role::makes_room
                                                       : Role::other},
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
        for (unsigned i = 0; i < hooks; ++i) run(hook, 20, Branch::ret);
        run(to, count);
    }
    std::vector<Counted> functions{4};
    std::vector<Range> tracer{{entry, 0x600}};
    CallPaths paths;
    std::uint64_t all = 0;
    CoreClock clock{all};
    CallShadow shadow{functions, tracer, {0x8000, stack}, &paths};
    Registers registers{0x8f00, 0};
    bool is_body = false;
};

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
    const Counted& caller = functions[0];
    EXPECT_THAT(numbers(caller.jumps, caller.self, caller.inclusive, functions[1].self),
                ElementsAre(1, 10, 17, 7));
    EXPECT_EQ(shadow.unexplained, 0u);
}

TEST_F(Shadow, AFunctionThatWasReachedByAJumpEndsWhereItJumpsOn) {
    enter(0, 0x2000, 10, Branch::jump);
    enter(1, hook, 7, Branch::jump);
    enter(2, hook, 5, Branch::ret);
    leave(0x2000, 1, 2);
    EXPECT_THAT(numbers(functions[0].inclusive, functions[1].inclusive, functions[2].inclusive),
                ElementsAre(22, 7, 5));
    EXPECT_EQ(paths.paths()[paths.paths().back().around].function, 0u);
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
    EXPECT_THAT(numbers(functions[2].self, functions[2].longjmps), ElementsAre(25, 1));
    EXPECT_THAT(numbers(functions[1].self, functions[1].unwound), ElementsAre(7, 1));
    EXPECT_THAT(numbers(functions[0].self, functions[0].landings, functions[0].below.longjmps),
                ElementsAre(14, 1, 1));
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
    const Counted& of = functions[0];
    EXPECT_THAT(numbers(of.self, of.interrupted, of.inclusive, functions[1].self),
                ElementsAre(12, 9, 28, 7));
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
    // The program has called the tracer for 4 + 5.
    EXPECT_THAT(numbers(functions[0].self, functions[0].asked, functions[0].pumps),
                ElementsAre(13 + 4 + 5, 4 + 5, 1));
}

TEST_F(Shadow, AnInterruptOfTheTracersWorkIsCounted) {
    for (const std::uint64_t work : {0x580, 0x500}) {  // it makes room in a ring, or not
        enter(0, 0x2000, 10, Branch::call);
        run(work, 5);
        run(0x800, 6);
        shadow.interrupt_ends();
        run(work, 5, Branch::ret);
        leave(0x2000);
    }
    EXPECT_THAT(numbers(functions[0].cut, functions[0].struck, functions[0].interrupts),
                ElementsAre(1, 1, 2));
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
