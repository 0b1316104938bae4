// SPDX-License-Identifier: Apache-2.0
// Tail calls: which call ends at a jump, and what that records.
#include "tracer/recorders/tail_calls.hpp"
#include "tests/unit/tracer/core_fixture.hpp"

#include <sstream>

namespace nopscope::testing::tail_calls_test {

constexpr std::uint64_t sp = 0x9000, real = 0x1234;

// Numbers as addresses that nothing looks behind.
std::uint64_t function(char name) { return 0x40000 + 8 * static_cast<std::uint64_t>(name); }
const ReturnOps* ops(char number) {
    return number == '-' ? nullptr : reinterpret_cast<const ReturnOps*>(std::uintptr_t(number) * 8);
}

struct TailCalls : CoreTest {
    TailCalls() { push({real, 0xa000, hook_address(Hook::graph), 0, {}}); }

    // A chain's frames, outermost first, all with one SP. g, p, d: a recorder's; 1f: of ReturnOps 1
    // on function f; 1f*: which was reached by a jump.
    void chain(const std::string& frames) {
        std::istringstream words(frames);
        std::uint64_t to = real;
        for (std::string word; words >> word; to = top_frame(core)->hook) {
            const Hook hook = word == "g"   ? Hook::graph
                              : word == "p" ? Hook::profile
                              : word == "d" ? Hook::duration
                                            : Hook::callback;
            ShadowFrame frame{to, sp, hook_address(hook), core.cursor, {}};
            if (hook == Hook::callback) {
                frame.position = function(word[1]) | (word.size() > 2 ? reached_by_jump : 0);
                frame.rest[0] = reinterpret_cast<std::uintptr_t>(ops(word[0]));
            }
            push(frame);
        }
    }
};

TEST_F(TailCalls, TheCallThatEndsIsThatOfAFunctionThatWasReachedByAJump) {
    const struct {
        const char* frames;
        std::size_t first;  // of the frames that end; 0: none does
    } rows[] = {{"g", 0},        {"g g", 2},        {"p g", 2},    {"g d", 2},
                {"1f", 0},       {"1f g", 0},       {"1f 2f", 0},  {"1f 2f g", 0},
                {"g 1f*", 2},    {"g 1f* g", 2},    {"1f 1f*", 2}, {"1f 2f 1f* 2f", 3},
                {"1f g 1f*", 3}, {"g 1f* 2f d", 2}, {"1f g g", 3}};
    for (const auto& row : rows) {
        chain(row.frames);
        const ShadowFrame* const first = first_of_jumper(core);
        EXPECT_EQ(first == nullptr ? 0 : first - memory[0].frames.data() - 1, row.first)
            << row.frames;
        core.top = core.shadow_base + sizeof(ShadowFrame);
    }
}

TEST_F(TailCalls, AFunctionIsReachedByAJumpUnlessItsOwnReturnOpsHaveHookedIt) {
    const struct {
        const char* frames;
        const char* next;  // the ReturnOps that comes, or -: a recorder; and its function
        bool jumped;
    } rows[] = {{"g", "-f", true},         {"g", "1f", true},      {"1f", "-f", false},
                {"1f", "-h", true},        {"1f", "2f", false},    {"1f", "1f", true},
                {"1f", "2h", true},        {"1f 2f", "-f", false}, {"1f 2f", "1f", true},
                {"1f 2f", "2f", true},     {"g 1f*", "-f", false}, {"1f 2f 1f*", "2f", false},
                {"1f 2f 1f*", "1f", true}, {"1f g", "-f", true}};
    for (const auto& row : rows) {
        chain(row.frames);
        const std::uint64_t hook = top_frame(core)->hook;
        const auto asked = [&](std::uint64_t at, std::uint64_t to) {
            return is_reached_by_jump(core, at, to, function(row.next[1]), ops(row.next[0]));
        };
        EXPECT_EQ(asked(sp, hook), row.jumped) << row.frames << " then " << row.next;
        EXPECT_FALSE(asked(sp - 16, hook) || asked(sp, real));
        core.top = core.shadow_base + sizeof(ShadowFrame);
    }
}

struct EndAtJump : TailCalls {
    // Ends a call that began at 100, at a jump at 1000 that the tracer works on at 2000.
    void end(Hook hook, std::uint64_t profiled = 0) {
        machine.now = 1000;
        const Moment began = moment(machine, core);
        if (interrupted) (void)put(make_record(Kind::call, 7, 0));
        machine.now = 2000;
        ShadowFrame frame{real, sp, hook_address(hook), ring_bytes, {100}};
        if (hook == Hook::profile) frame.position = reinterpret_cast<std::uintptr_t>(&cell.total);
        end_at_jump(machine, core, frame, began, profiled);
    }
    std::string told() const {
        std::string text;
        for (std::uint64_t i = 0; i < record_index(core.cursor); ++i) {
            const Record record = at(i);
            text += record.is(Extended::tracer_begin) ? "begin"
                    : record.is(Extended::tracer_end) ? "end"
                    : record.is(Extended::duration)   ? "duration"
                    : record.is(Extended::data)       ? "data"
                    : record.kind() == Kind::ret      ? record.unwound() ? "unwound" : "ret"
                                                      : "call";
            if (!record.is(Extended::data)) text += record.clock_low() < 2000 ? "@1000" : "@2000";
            text += " ";
        }
        return text;
    }
    bool interrupted = false;
    ProfileCell cell{};
};

TEST_F(EndAtJump, AGraphsReturnHasTheJumpsTimeAndTheRestIsTheTracers) {
    end(Hook::graph);
    EXPECT_EQ(told(), "begin@1000 end@1000 ret@1000 begin@1000 end@2000 ");
    EXPECT_EQ(tuple(at(0).argument(), at(1).argument(), at(3).argument(), at(4).argument()),
              tuple(arch::jump_before, 0u, 0u, 0u));
    EXPECT_EQ(at(2).entry_index(), 0u);
    EXPECT_EQ(core.own_records, 4u);
}
TEST_F(EndAtJump, AnInterruptsRecordComesFirst) {
    interrupted = true;
    end(Hook::graph);
    EXPECT_EQ(told(), "call@1000 begin@2000 end@2000 ret@2000 begin@2000 end@2000 ");
}
TEST_F(EndAtJump, ASwitchWithoutItsRecordAndTheTracersOwnWorkHaveNoBracketsInside) {
    core.context_record_pending = 1;
    end(Hook::graph);
    core.context_record_pending = 0;
    core.tracer_marked = 1;
    end(Hook::graph);
    EXPECT_EQ(told(), "ret@1000 ret@1000 ");
}
TEST_F(EndAtJump, ADurationEndsAtTheJumpAndAShortOneIsCounted) {
    end(Hook::duration);
    EXPECT_EQ(told(), "duration@1000 data data begin@1000 end@2000 ");
    EXPECT_EQ(at(2).data() - 900, at(0).clock_low() - 1000);
    EXPECT_EQ(at(4).argument(), arch::jump_after);
    core.min_duration = 5000;
    end(Hook::duration);
    EXPECT_EQ(tuple(record_index(core.cursor), core.filtered), tuple(5u, 1u));
}
TEST_F(EndAtJump, AProfiledCallEndsAtTheJumpAndItsCallerHasNothingOfTheRest) {
    cell.min = ~std::uint64_t{0};
    core.profile_cost = 10;
    end(Hook::profile);
    const std::uint64_t ticks = cell.total;
    EXPECT_TRUE(ticks >= 900 && ticks < 1000 && cell.min == ticks && cell.max == ticks);
    EXPECT_EQ(cell.self, (ticks << profiled_shift) + 10);
    EXPECT_GE(core.profiled, (std::uint64_t{2000 - 100} << profiled_shift) + 2 * 10);
    // An interrupt's profiled call came in between: its time is in neither, so the call ends now.
    cell.total = 0;
    core.profiled = 7 << profiled_shift;
    end(Hook::profile, 0);
    EXPECT_GE(cell.total, 1900u);
}

}  // namespace nopscope::testing::tail_calls_test
