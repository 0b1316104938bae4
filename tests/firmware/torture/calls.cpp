// SPDX-License-Identifier: Apache-2.0
// Arguments and results: every way in which the ABI passes and returns values. A hook that changes
// a register of the call, at entry or return, changes a digest: so no case says what is right.
#include "tests/firmware/torture/torture.hpp"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <concepts>
#include <iterator>
#include <utility>

namespace torture::TORTURE_LEVEL {
namespace {

// Types without padding, for mix().
struct Pair {
    uint64_t low, high;
};
struct Triple {
    uint32_t a, b, c;
};
struct Blend {
    double d;
    uint64_t u;
};
struct Odd {
    uint8_t bytes[7];
};
struct Large {
    uint64_t words[25];
};
struct Quad {
    double d[4];
};
struct Floats {
    float f[4];
};
struct Vectors {
    Vector v[4];
};
using Wide = unsigned __int128;

// A value of a type with random bits.
template <typename Value>
TORTURE_INLINE Value drawn(uint64_t seed) {
    uint64_t words[(sizeof(Value) + 7) / 8];
    for (unsigned n = 0; n < std::size(words); ++n) words[n] = draw(seed, n);
    if constexpr (std::same_as<Value, bool>) words[0] &= 1;
    Value value;
    memcpy(&value, words, sizeof value);
    return value;
}

// ---- arguments ----

template <typename... Values>
TORTURE_CALL uint64_t take(Values... values) {
    uint64_t digest = 0;
    ((digest = mix(digest, values)), ...);
    return digest;
}
template <typename... Values>
uint64_t arguments(uint64_t seed) {
    return [seed]<size_t... n>(std::index_sequence<n...>) {
        return take<Values...>(drawn<Values>(draw(seed, n))...);
    }
    (std::index_sequence_for<Values...>());
}

template <typename Value>
TORTURE_INLINE uint64_t mix_next(uint64_t digest, va_list& list) {
    return mix(digest, va_arg(list, Value));
}
template <typename... Values>
TORTURE_CALL uint64_t take_variadic(uint64_t digest, ...) {
    va_list list;
    va_start(list, digest);
    ((digest = mix_next<Values>(digest, list)), ...);
    va_end(list);
    return digest;
}
template <typename... Values>
uint64_t variadic(uint64_t seed) {
    return [seed]<size_t... n>(std::index_sequence<n...>) {
        return take_variadic<Values...>(seed, drawn<Values>(draw(seed, n))...);
    }
    (std::index_sequence_for<Values...>());
}

uint64_t formatted(uint64_t seed) {
    char text[128];
    const int length = snprintf(text, sizeof text, "%d %s %lx %c %5.2f %u %e %p %ld %03d|%g", -12,
                                "abc", 0xfeedfacecafeUL, 'z', 3.14159, 42u, 1e100,
                                reinterpret_cast<void*>(0x1234), -9876543210L, 7, 0.5);
    uint64_t digest = mix(seed, length);
    for (const char* at = text; *at != '\0'; ++at) digest = mix(digest, int{*at});
    return digest;
}

// ---- results ----

template <typename Value>
TORTURE_CALL Value exchange(Value in, unsigned depth) {
    if (depth > 0) in = exchange(in, depth - 1);
    return drawn<Value>(mix(depth, in));
}
template <typename... Values>
uint64_t results(uint64_t seed) {
    ((seed = mix(seed, exchange(drawn<Values>(seed), 3))), ...);
    return seed;
}

// ---- what the compiler sees of a callee ----

TORTURE_SEEN Vector sum_vectors(Vector a, Vector b, Vector c, Vector d, Vector e, Vector f,
                                Vector g, Vector h, Vector i, Vector j) {
    return a - b + c - d + e - f + g - h + i - j;
}
TORTURE_SEEN float return_float(float in) { return in / 8; }

uint64_t seen_callees(uint64_t seed) {
    Vector v[10];
    for (unsigned n = 0; n < 10; ++n)
        v[n] = Vector{draw_double(seed, n), draw_double(seed, 10 + n)};
    const Vector sum = sum_vectors(v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9]);
    uint64_t digest = mix(mix(seed, sum), return_float(3.0f));
    for (const Vector& one : v) digest = mix(digest, one);
    return digest;
}

const Case cases[] = {
    {"integers", arguments<int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t,
                           int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t,
                           bool, char, int, long, int8_t, int16_t, int32_t, uint64_t>},
    {"doubles",
     arguments<double, double, double, double, double, double, double, double, double, double,
               double, double, double, double, double, double, double, double, double, double>},
    {"mixed arguments", arguments<uint64_t, double, float, Wide, uint8_t, Pair, double, Odd, Large,
                                  Vector, uint16_t, Wide, long double, double, float, double,
                                  double, double, double, Pair, int, Vector>},
    {"vectors", arguments<Vectors, Vectors, Floats, Quad>},
    {"variadic", variadic<int, uint64_t, double, long double, Pair, Wide, Quad, Large, int, double,
                          long double, Wide, Quad, Pair, double, double, double, double, double,
                          long double, int, uint64_t>},
    {"formatted", formatted},
    {"results in vectors", results<Quad, Floats, Vectors, float, double, Vector, long double>},
    {"other results", results<Large, Pair, Triple, Odd, Blend, bool, int8_t, Wide>},
    {"seen callees", seen_callees},
};

}  // namespace

extern const std::span<const Case> call_cases;
const std::span<const Case> call_cases = cases;

}  // namespace torture::TORTURE_LEVEL
