// SPDX-License-Identifier: Apache-2.0
// Tests HAL and tracer on the board itself, with a line for each test. Exit status 1: a test
// failed. Semihosting command lines: `selftest` runs all tests, `selftest memory bti.` those whose
// names begin so, `selftest crash=NAME` ends in the exception reporter.
#include <cstdio>
#include <cstring>

#include "hal/hal.hpp"
#include "tests/firmware/selftest/selftest.hpp"

namespace nopscope::selftest {

namespace {

const Test* first_test;
Test* last_test;
constexpr const char* crash_word = "crash=";

struct Words {
    // The next word, or null. It cuts the text in place.
    char* next() {
        char* word = strtok_r(text, " ", &rest);
        text = nullptr;
        return word;
    }
    char* text;
    char* rest = nullptr;
};

bool is_chosen(const char* name, const char* command_line) {
    char copy[256];
    std::snprintf(copy, sizeof copy, "%s", command_line);
    Words words{.text = copy};
    words.next();  // the program's name
    bool any = false;
    for (const char* word = words.next(); word != nullptr; word = words.next()) {
        any = true;
        if (std::strncmp(name, word, std::strlen(word)) == 0) return true;
    }
    return !any;
}

unsigned run_all() {
    unsigned ok = 0;
    unsigned bad = 0;
    for (const Test* test = Test::first(); test != nullptr; test = test->next()) {
        if (!is_chosen(test->name(), hal::command_line())) continue;
        const Outcome outcome = test->run();
        if (outcome.failure != nullptr) {
            ++bad;
            std::printf("FAIL %s: %s\n", test->name(), outcome.failure);
        } else {
            ++ok;
            std::printf("ok %s%s%s%s\n", test->name(), outcome.note != nullptr ? " (" : "",
                        outcome.note != nullptr ? outcome.note : "",
                        outcome.note != nullptr ? ")" : "");
        }
    }
    std::printf("selftest: %u passed, %u failed\n", ok, bad);
    return ok == 0 ? 1 : bad;
}

}  // namespace

Test::Test(const char* name, Outcome (*run)()) : name_(name), run_(run) {
    if (last_test != nullptr) {
        last_test->next_ = this;
    } else {
        first_test = this;
    }
    last_test = this;
}

const Test* Test::first() { return first_test; }

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
