// SPDX-License-Identifier: Apache-2.0
// Calls a function of each calling convention that clang has for arm64, and prints how many of nine
// calls computed wrong. BROKEN is in front of those that compute wrong if they are traced, and
// ASYNC_BROKEN of the one that stops the program.
#include "mmu.h"
#include "uart.h"

#include <nopscope/nopscope.h>

#ifndef BROKEN
#define BROKEN
#endif
#ifndef ASYNC_BROKEN
#define ASYNC_BROKEN
#endif

typedef uint64_t U;
static volatile U sum;

// Returns `a` if the function does.
#define USE(name, call) \
    static U use_##name(U a) { return call; }
// The body takes all registers that a convention may want to be kept.
#define FEW(name, site, convention)                                              \
    __attribute__((convention, noinline)) site U name(U a) {                     \
        __asm__ volatile("" ::: "x9", "x10", "x11", "x12", "x13", "x14", "x15"); \
        sum += a;                                                                \
        return a;                                                                \
    }
// Returns `a` if x9 to x15 are kept, too. It calls as clang would if it had so many values.
#define USE_KEPT(name)                                                                          \
    static U use_##name(U a) {                                                                  \
        register U x0 __asm__("x0") = a;                                                        \
        register U x9 __asm__("x9") = a, x10 __asm__("x10") = a, x11 __asm__("x11") = a;        \
        register U x12 __asm__("x12") = a, x15 __asm__("x15") = a;                              \
        __asm__ volatile("bl " #name                                                            \
                         : "+r"(x0), "+r"(x9), "+r"(x10), "+r"(x11), "+r"(x12), "+r"(x15)       \
                         :                                                                      \
                         : "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x13", "x14", "x16", \
                           "x17", "x30", "cc", "memory");                                       \
        return x9 == a && x10 == a && x11 == a && x12 == a && x15 == a ? x0 : a + 1;            \
    }
#define MANY(name, site, convention)                                                             \
    __attribute__((convention, noinline)) site void name(U a, U b, U c, U d, U e, U f, U g, U h, \
                                                         U i, U j, U k, U l, U m, U n, U o, U p, \
                                                         U q, U r, U s, U t) {                   \
        sum = a - b - c - d - e - f - g - h - i + j + k + l + m + n + o + p + q + r + s + t;     \
    }                                                                                            \
    USE(name, (name(a, 1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0), sum))

// clang-format off
FEW(usual, , used)
FEW(most, BROKEN, preserve_most)
FEW(all, BROKEN, preserve_all)
FEW(none, BROKEN, preserve_none)
FEW(swift, , swiftcall)
FEW(vector, , aarch64_vector_pcs)
FEW(sve, , aarch64_sve_pcs)
FEW(windows, , ms_abi)
MANY(usual_many, , used)
MANY(none_many, BROKEN, preserve_none)
MANY(swift_many, , swiftcall)
MANY(async_many, ASYNC_BROKEN, swiftasynccall)
// clang-format on
__attribute__((swiftasynccall, noinline)) void async(U a) { sum = a; }
__attribute__((naked, noinline)) U naked(U a) { __asm__("ret"); }
__attribute__((naked, noinline)) BROKEN void vector_entry(void) {
    __asm__("stp x8, x9, [sp, #-16]!\n\tldp x8, x9, [sp], #16\n\tret");
}

USE(usual, usual(a))
USE_KEPT(most)
USE_KEPT(all)
USE(none, none(a))
USE(swift, swift(a))
USE(vector, vector(a))
USE(sve, sve(a))
USE(windows, windows(a))
USE(async, (async(a), sum))
USE(naked, naked(a))
USE(vector_entry, (vector_entry(), a))
#define CASES(op)                                                                          \
    op(usual) op(most) op(all) op(none) op(swift) op(vector) op(sve) op(windows) op(async) \
        op(naked) op(vector_entry) op(usual_many) op(none_many) op(swift_many) op(async_many)
#define CASE(name) {#name, use_##name},
static const struct {
    const char* name;
    U (*use)(U);
} cases[] = {CASES(CASE)};

NOPSCOPE_NOTRACE static void say(const char* name, U wrong) {
    char text[20];
    unsigned n = 0;
    for (; name[n]; ++n) text[n] = name[n];
    text[n++] = ' ';
    text[n++] = (char)('0' + wrong);
    text[n++] = '\n';
    nopscope_console_write(text, n);
}

int main(void) {
    static const struct nopscope_machine machine = {.text_alias = TEXT_ALIAS};
    static struct nopscope_config config = {.image = "conventions",
                                            .machine = &machine,
                                            .try_write = uart_try_write,
                                            .drain = uart_drain,
                                            .mode = NOPSCOPE_LOSSLESS,
                                            .recorder = NOPSCOPE_GRAPH};
    __asm__("mrs %0, cntfrq_el0" : "=r"(config.clock_hz));
    // Callers of some of these functions keep vector registers.
    __asm__ volatile("msr cpacr_el1, %0\n\tisb" : : "r"((U)3 << 20));
    if (nopscope_init(&config) != NOPSCOPE_OK) return 1;
    for (unsigned n = 0; n < sizeof cases / sizeof *cases; ++n) {
        U wrong = 0;
        for (U a = 1; a < 10; ++a) wrong += cases[n].use(a) != a;
        say(cases[n].name, wrong);
        nopscope_pump();
    }
    nopscope_finish();
    return 0;
}
