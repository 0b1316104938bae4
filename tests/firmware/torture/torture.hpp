// SPDX-License-Identifier: Apache-2.0
// The ABI torture: what cases, interrupt handlers and driver share.
//
// A case is a function of a seed. It computes a digest from all values that it received and that
// calls returned. The case files are compiled at -O0, -O2 and -Os, instrumented, into the
// namespaces torture::O0, O2 and Os (TORTURE_LEVEL). The driver (main.cpp, not instrumented) runs
// each case untraced, and traced in each way. A digest must be equal to the untraced one, and equal
// at all levels; fail() must not be called.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <span>

// Never inlined, cloned or specialised: a real call to a patch site.
#define TORTURE_CALL __attribute__((noipa))
// The same, but the compiler may see which registers the callee uses: -fipa-ra would use that.
#define TORTURE_SEEN __attribute__((noinline, noclone))

namespace torture {

struct Case {
    const char* name;
    uint64_t (*run)(uint64_t seed);
};

// The cases at one optimisation level.
struct Suite {
    const char* level;
    const std::span<const Case>& calls;
    const std::span<const Case>& flow;
    void (*start_interrupts)(uint64_t seed);
    void (*stop_interrupts)();
};

namespace O0 {
extern const Suite suite;
}
namespace O2 {
extern const Suite suite;
}
namespace Os {
extern const Suite suite;
}

// ---- failures.cpp ----

extern volatile unsigned failures;
// Counts a failure, and prints the first twenty. Any context.
[[gnu::format(printf, 1, 2)]] void complain(const char* format, ...);
// Traced calls were dropped or refused, or sites are still enabled: complains.
void expect_nothing_lost();
// Prints what became of the image's test. Returns its exit status.
int end(const char* image);
// Reports that an invariant does not hold. Any context.
void fail(const char* file, unsigned line);
#define TORTURE_EXPECT(condition)                              \
    do {                                                       \
        if (!(condition)) ::torture::fail(__FILE__, __LINE__); \
    } while (false)

// Cases call it in the middle of their work, below open traced calls. In one phase the driver
// enables or disables sites there; in others it does nothing.
void toggle();

// How many interrupts each handler took: timer, urgent, most_urgent, late.
extern volatile uint32_t interrupts[4];

// In a vector register, where the level has some.
using Vector = double __attribute__((vector_size(16)));

// ---- digests ----

#define TORTURE_INLINE __attribute__((always_inline)) inline

// The same value, unknown to the compiler: recursion through it stays recursion.
TORTURE_INLINE uint64_t opaque(uint64_t value) {
    asm volatile("" : "+r"(value));
    return value;
}

// One step of a 64-bit hash (the finalizer of SplitMix64 over a running sum).
TORTURE_INLINE constexpr uint64_t mix(uint64_t digest, uint64_t value) {
    uint64_t z = digest * 0x9e3779b97f4a7c15u + value + 1;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}
// Of all bytes of another value, which has no padding.
template <typename Value>
TORTURE_INLINE uint64_t mix(uint64_t digest, const Value& value) {
    uint64_t words[(sizeof(Value) + 7) / 8] = {};
    __builtin_memcpy(words, &value, sizeof value);
    for (const uint64_t word : words) digest = mix(digest, word);
    return digest;
}

// The n-th pseudo-random value of a seed. As a double it is an integer divided by 4, so that sums
// are exact.
TORTURE_INLINE constexpr uint64_t draw(uint64_t seed, unsigned n) { return mix(seed, uint64_t{n}); }
TORTURE_INLINE constexpr double draw_double(uint64_t seed, unsigned n) {
    return static_cast<double>(static_cast<int32_t>(draw(seed, n))) / 4.0;
}

}  // namespace torture
