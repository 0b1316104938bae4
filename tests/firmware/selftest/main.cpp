// SPDX-License-Identifier: Apache-2.0
// Tests HAL and tracer on the board itself, with a line for each test. Exit status 1: a test
// failed. Semihosting command lines: `selftest` runs all tests, `selftest memory bti.` those whose
// names begin so, `selftest crash=NAME` ends in the exception reporter.
#include <cstdio>
#include <cstring>

#include "hal/hal.hpp"
#include "tests/firmware/selftest/capture.hpp"
#include "tests/firmware/selftest/selftest.hpp"

namespace nopscope::selftest {

namespace {

const Test* first_test;
const Test** end_of_tests = &first_test;
constexpr const char* crash_word = "crash=";

bool is_chosen(const char* name, const char* command_line) {
    char copy[256];
    std::snprintf(copy, sizeof copy, "%s", command_line);
    char* rest = nullptr;
    strtok_r(copy, " ", &rest);  // the program's name
    bool any = false;
    while (const char* word = strtok_r(nullptr, " ", &rest)) {
        any = true;
        if (std::strncmp(name, word, std::strlen(word)) == 0) return true;
    }
    return !any;
}

void disable_interrupts() {
    hal::timer_disarm();
    hal::disable_interrupt(hal::timer_interrupt);
    for (unsigned sgi = 0; sgi < 7; ++sgi) hal::disable_interrupt(sgi);
}

unsigned run_all() {
    unsigned ok = 0;
    unsigned bad = 0;
    for (const Test* test = first_test; test != nullptr; test = test->next) {
        if (!is_chosen(test->name, hal::command_line())) continue;
        outcome = {};
        test->run();
        disable_interrupts();
        if (!nothing_left() && outcome.failure == nullptr) failed("it left something");
        if (outcome.failure != nullptr) {
            ++bad;
            std::printf("FAIL %s: %s\n", test->name, outcome.failure);
        } else {
            ++ok;
            std::printf(outcome.note != nullptr ? "ok %s (%s)\n" : "ok %s\n", test->name,
                        outcome.note);
        }
    }
    std::printf("selftest: %u passed, %u failed\n", ok, bad);
    return ok == 0 ? 1 : bad;
}

}  // namespace

Test::Test(const char* name, void (*run)()) : name(name), run(run) {
    *end_of_tests = this;
    end_of_tests = &next;
}

}  // namespace nopscope::selftest

int main() {
    using namespace nopscope;
    const char* word = std::strstr(hal::command_line(), selftest::crash_word);
    if (word != nullptr) {
        selftest::crash(word + std::strlen(selftest::crash_word));
        std::puts("selftest: no such crash");
        return 1;
    }
    return selftest::run_all() != 0;
}
