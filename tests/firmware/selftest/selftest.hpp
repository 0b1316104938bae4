// SPDX-License-Identifier: Apache-2.0
// The registry of the tests on the target.
//
//     SELFTEST("timer.fires") {
//         REQUIRE(fired == 1);
//         return passed();                  // or passed("a note shown beside ok")
//     }
//
// A test runs in thread context with interrupts enabled. It leaves handlers and the timer disabled.
// Tests of a file run in its order, files in the linker's order.
#pragma once

#include <cstdint>

namespace nopscope::selftest {

struct Outcome {
    const char* failure;  // null: passed
    const char* note;     // may be null; static storage
};
constexpr Outcome passed(const char* note = nullptr) { return {.failure = nullptr, .note = note}; }
constexpr Outcome failed(const char* why) { return {.failure = why, .note = nullptr}; }

// Its constructor registers it before main, which also tests static constructors.
class Test {
public:
    Test(const char* name, Outcome (*run)());
    const char* name() const { return name_; }
    Outcome run() const { return run_(); }
    const Test* next() const { return next_; }
    static const Test* first();

private:
    const char* name_;
    Outcome (*run_)();
    Test* next_ = nullptr;
};

// Runs case `crash=NAME`, which must end in the exception reporter. Returns if there is none.
void crash(const char* name);

// 64-bit xorshift (Marsaglia 2003): the same sequence in every run.
class Random {
public:
    explicit constexpr Random(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next() {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return state_;
    }
    std::uint64_t below(std::uint64_t bound) { return next() % bound; }

private:
    std::uint64_t state_;
};

}  // namespace nopscope::selftest

#define SELFTEST_JOIN_(a, b) a##b
#define SELFTEST_JOIN(a, b) SELFTEST_JOIN_(a, b)
#define SELFTEST_LINE_(line) #line
#define SELFTEST_LINE(line) SELFTEST_LINE_(line)
#define SELFTEST_AS_(NAME, ID)                                                                     \
    static nopscope::selftest::Outcome SELFTEST_JOIN(run_, ID)();                                  \
    static const nopscope::selftest::Test SELFTEST_JOIN(test_, ID)(NAME, SELFTEST_JOIN(run_, ID)); \
    static nopscope::selftest::Outcome SELFTEST_JOIN(run_, ID)()
#define SELFTEST(NAME) SELFTEST_AS_(NAME, __LINE__)
#define REQUIRE(CONDITION)                                                                       \
    do {                                                                                         \
        if (!(CONDITION)) {                                                                      \
            return nopscope::selftest::failed(#CONDITION " (line " SELFTEST_LINE(__LINE__) ")"); \
        }                                                                                        \
    } while (false)
