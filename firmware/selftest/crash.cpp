// SPDX-License-Identifier: Apache-2.0
// Ways to end in the exception reporter, each three calls deep. tests/target checks the reports.
#include <cstdio>
#include <cstring>

#include "firmware/selftest/selftest.hpp"
#include "firmware/selftest/targets.hpp"
#include "hal/arm64/symbols.hpp"
#include "hal/hal.hpp"

namespace nopscope::selftest {

namespace {

using Way = void (*)();

void read_null() { static_cast<void>(*static_cast<volatile int*>(nullptr)); }

volatile unsigned endless = ~0u;

// The array keeps the compiler from making this a loop.
[[gnu::noinline]] unsigned overflow(unsigned depth) {
    volatile unsigned room[64];
    room[depth % 64] = depth;
    if (depth == endless) return 0;
    return overflow(depth + 1) + room[(depth + 1) % 64];
}

void faulting_sink(const char*, std::size_t) { read_null(); }

const struct {
    const char* name;
    Way way;
} cases[] = {
    {"undefined", selftest_undefined},
    {"brk", selftest_brk},
    {"read-null", read_null},
    {"stack", [] { overflow(0); }},
    {"panic", [] { hal::panic("asked for"); }},
    // From the handler the interrupted code must be reachable.
    {"interrupt",
     [] {
         hal::set_handler(0, 8, [](unsigned) { selftest_undefined(); });
         hal::raise_sgi(0);
     }},
    // A console that faults, and then the reporter that needs it.
    {"reporter",
     [] {
         hal::set_console({.write = faulting_sink, .enter_panic = nullptr});
         selftest_undefined();
     }},
    {"no-handler",
     [] {
         hal::set_handler(0, 8, nullptr);
         hal::raise_sgi(0);
     }},
};

[[gnu::noinline]] void crash_inner(Way way) {
    way();
    asm volatile("");  // not a tail call
}
[[gnu::noinline]] void crash_outer(Way way) {
    crash_inner(way);
    asm volatile("");
}

}  // namespace

void crash(const char* name) {
    for (const auto& one : cases) {
        if (std::strcmp(name, one.name) != 0) continue;
        std::fflush(stdout);
        crash_outer(one.way);
    }
}

}  // namespace nopscope::selftest
