// SPDX-License-Identifier: Apache-2.0
// Ways to end in the exception reporter, each three calls deep. tests/target checks the reports.
#include <cstdio>
#include <cstring>

#include "firmware/selftest/core_tests.hpp"
#include "firmware/selftest/selftest.hpp"
#include "firmware/selftest/targets.hpp"
#include "hal/hal.hpp"

using namespace nopscope;

// Names as the expected backtraces have them. None ends in a call, which would be a tail call and
// have no frame.
extern "C" {

static void crash_read_null() { static_cast<void>(*static_cast<volatile int*>(nullptr)); }

static volatile unsigned endless = ~0u;

// The array keeps the compiler from making this a loop.
[[gnu::noinline]] static unsigned crash_overflow(unsigned depth) {
    volatile unsigned room[64];
    room[depth % 64] = depth;
    if (depth == endless) return 0;
    return crash_overflow(depth + 1) + room[(depth + 1) % 64];
}
static void crash_stack() {
    crash_overflow(0);
    asm volatile("");
}

static void crash_panic() { hal::panic("asked for"); }

static void crash_handler(unsigned) {
    selftest_undefined();
    asm volatile("");
}
static void crash_interrupt() {
    hal::disable_interrupts();
    hal::set_handler(0, 8, crash_handler);
    hal::raise_sgi(0);
    asm volatile("msr daifclr, #2\n\tnop\n\tnop" ::: "memory");  // it lands here
}
static void crash_no_handler() {
    hal::disable_interrupts();
    hal::set_handler(0, 8, nullptr);
    hal::raise_sgi(0);
    asm volatile("msr daifclr, #2\n\tnop\n\tnop" ::: "memory");
}

// A console that faults, and then the reporter that needs it.
static void faulting_sink(const char*, std::size_t) { crash_read_null(); }
static void crash_reporter() {
    hal::set_console({.write = faulting_sink, .enter_panic = nullptr});
    selftest_undefined();
    asm volatile("");
}

// Core 1, or all others at once: one report. The boot core never gets further.
static void crash_worker(unsigned) {
    crash_read_null();
    asm volatile("");
}
static void crash_core() {
    selftest::start_workers();
    selftest::on_core(1, crash_worker);
    for (;;) hal::wait_for_interrupt();
}
static void crash_cores() {
    selftest::start_workers();
    selftest::on_other_cores(crash_worker);
    for (;;) hal::wait_for_interrupt();
}
// A core that ends the machine while the boot core listens to nobody.
static void crash_exit() {
    selftest::start_workers();
    selftest::on_core(1, [](unsigned) {
        hal::print("core 1 exits\n");
        hal::exit(1);
    });
    hal::disable_interrupts();
    for (;;) hal::wait_for_interrupt();
}

std::uint32_t crash_data_word = 0xd65f'03c0;  // RET
static void crash_execute_data() {
    const auto data = reinterpret_cast<void (*)()>(&crash_data_word);
    data();
    asm volatile("");
}

// As the tracer does: the return address is a hook's, and the real one is elsewhere.
static std::uint64_t hooked_address;
static std::uint64_t resolve_hooked(unsigned depth) { return depth == 0 ? hooked_address : 0; }
[[gnu::noinline]] static void crash_hooked() {
    auto* record = static_cast<std::uint64_t*>(__builtin_frame_address(0));
    hooked_address =
        reinterpret_cast<std::uint64_t>(__builtin_extract_return_addr(__builtin_return_address(0)));
    const auto hook = reinterpret_cast<std::uint64_t>(selftest_land_nothing);
    record[1] = hook;
    hal::set_return_hook({.hook = hook, .resolve = resolve_hooked});
    selftest_brk();
    asm volatile("");
}

[[gnu::noinline]] static void crash_inner(void (*way)()) {
    way();
    asm volatile("");
}
[[gnu::noinline]] static void crash_outer(void (*way)()) {
    crash_inner(way);
    asm volatile("");
}
}

static constexpr struct {
    const char* name;
    void (*way)();
} cases[] = {
    {"undefined", selftest_undefined},
    {"brk", selftest_brk},
    {"registers", selftest_known_registers},
    {"read-null", crash_read_null},
    {"execute-data", crash_execute_data},
    {"stack", crash_stack},
    {"panic", crash_panic},
    {"interrupt", crash_interrupt},
    {"no-handler", crash_no_handler},
    {"reporter", crash_reporter},
    {"hooked", crash_hooked},
    {"core", crash_core},
    {"cores", crash_cores},
    {"core-exit", crash_exit},
};

void selftest::crash(const char* name) {
    for (const auto& one : cases) {
        if (std::strcmp(name, one.name) != 0) continue;
        std::fflush(stdout);
        crash_outer(one.way);
    }
}
