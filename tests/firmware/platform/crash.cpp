// SPDX-License-Identifier: Apache-2.0
// Ways to end in the exception reporter, each some calls deep. tests/target checks the report.
#include "tests/firmware/platform/crash.hpp"

#include <cstring>

#include "hal/hal.hpp"

namespace hal = nopscope::hal;

// The expected backtraces have these names.
extern "C" {

[[gnu::noinline]] static int leaf(const volatile int* at) { return *at; }
[[gnu::noinline]] static void crash_leaf() { static_cast<void>(leaf(nullptr)); }
[[gnu::noinline]] static void crash_panic() { hal::panic("asked for"); }

static volatile unsigned endless = ~0u;
// The array stops the compiler from making this a loop.
[[gnu::noinline]] static unsigned crash_overflow(unsigned depth) {
    volatile unsigned room[64];
    room[depth % 64] = depth;
    if (depth == endless) return 0;
    return crash_overflow(depth + 1) + room[(depth + 1) % 64];
}
static void crash_stack() { crash_overflow(0); }

static void crash_handler(unsigned) { crash_leaf(); }
[[gnu::noinline]] static void crash_interrupt() {
    hal::set_handler(0, 8, crash_handler);
    hal::disable_interrupts();
    hal::raise_interrupt(0);
    hal::enable_interrupts();  // it comes there
}
}

void crash_if_asked() {
    static constexpr struct {
        const char* word;
        void (*crash)();
    } crashes[] = {
        {"crash=leaf", crash_leaf},
        {"crash=panic", crash_panic},
        {"crash=stack", crash_stack},
        {"crash=interrupt", crash_interrupt},
    };
    for (const auto& one : crashes) {
        if (std::strstr(hal::command_line(), one.word) != nullptr) one.crash();
    }
}
