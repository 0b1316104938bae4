// SPDX-License-Identifier: Apache-2.0
// The registry of the tests on the target.
//
//     SELFTEST("timer.fires") {
//         REQUIRE(fired == 1);
//         passed("after a millisecond");    // optional: a note beside `ok`
//     }
//
// A test runs in thread context with interrupts enabled. The runner disables its SGIs and timer.
// Tests of a file run in its order, files in the linker's order.
#pragma once

#include <cstdint>

#include "hal/hal.hpp"

namespace nopscope::selftest {

struct Outcome {
    const char* failure = nullptr;  // null: passed
    const char* note = nullptr;     // may be null; static storage
};
inline Outcome outcome;  // of the running test
inline void passed(const char* note) { outcome.note = note; }
inline void failed(const char* why) { outcome.failure = why; }

// Its constructor registers it before main, which also tests static constructors.
struct Test {
    Test(const char* name, void (*run)());
    const char* name;
    void (*run)();
    const Test* next = nullptr;
};

// Only to detect a hang.
inline constexpr std::uint64_t patience_seconds = 20;
template <typename Condition>
bool wait_for(Condition condition) {
    const std::uint64_t limit = hal::clock() + patience_seconds * hal::clock_hz();
    while (!condition()) {
        if (hal::clock() > limit) return false;
        hal::yield();
    }
    return true;
}
inline void wait_ticks(std::uint64_t ticks) {
    const std::uint64_t until = hal::clock() + ticks;
    while (hal::clock() < until) hal::yield();
}

// Runs case `crash=NAME`, which must end in the exception reporter. Returns if there is none.
void crash(const char* name);

}  // namespace nopscope::selftest

#define SELFTEST_JOIN_(a, b) a##b
#define SELFTEST_JOIN(a, b) SELFTEST_JOIN_(a, b)
#define SELFTEST_LINE_(line) #line
#define SELFTEST_LINE(line) SELFTEST_LINE_(line)
#define SELFTEST_AS_(NAME, ID)                                                                     \
    static void SELFTEST_JOIN(run_, ID)();                                                         \
    static const nopscope::selftest::Test SELFTEST_JOIN(test_, ID)(NAME, SELFTEST_JOIN(run_, ID)); \
    static void SELFTEST_JOIN(run_, ID)()
#define SELFTEST(NAME) SELFTEST_AS_(NAME, __LINE__)
#define REQUIRE(CONDITION)                                                                       \
    do {                                                                                         \
        if (!(CONDITION)) {                                                                      \
            return nopscope::selftest::failed(#CONDITION " (line " SELFTEST_LINE(__LINE__) ")"); \
        }                                                                                        \
    } while (false)
