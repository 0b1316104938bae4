// SPDX-License-Identifier: Apache-2.0
#include "firmware/bench/functions.hpp"

// clang-format off
#define EIGHT(X, P) X(P##0) X(P##1) X(P##2) X(P##3) X(P##4) X(P##5) X(P##6) X(P##7)
#define EIGHT_EIGHTS(X, P)                                                             \
    EIGHT(X, P##0) EIGHT(X, P##1) EIGHT(X, P##2) EIGHT(X, P##3) EIGHT(X, P##4)         \
    EIGHT(X, P##5) EIGHT(X, P##6) EIGHT(X, P##7)
#define ALL(X)                                                                         \
    EIGHT_EIGHTS(X, 0) EIGHT_EIGHTS(X, 1) EIGHT_EIGHTS(X, 2) EIGHT_EIGHTS(X, 3)        \
    EIGHT_EIGHTS(X, 4) EIGHT_EIGHTS(X, 5) EIGHT_EIGHTS(X, 6) EIGHT_EIGHTS(X, 7)        \
    EIGHT_EIGHTS(X, 8) EIGHT_EIGHTS(X, 9) EIGHT_EIGHTS(X, a) EIGHT_EIGHTS(X, b)        \
    EIGHT_EIGHTS(X, c) EIGHT_EIGHTS(X, d) EIGHT_EIGHTS(X, e) EIGHT_EIGHTS(X, f)

#define DEFINE(N) __attribute__((noipa)) void function_##N() {}
#define NAME(N) function_##N,
// clang-format on

namespace bench {

ALL(DEFINE)

const BenchFunction functions[many] = {ALL(NAME)};

__attribute__((noipa)) void traced() {}
__attribute__((noipa)) void around(void (*work)()) {
    work();
    asm volatile("" ::: "memory");  // not a tail call
}

}  // namespace bench
