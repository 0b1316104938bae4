// SPDX-License-Identifier: Apache-2.0
// Arguments and results: every way in which AAPCS64 passes and returns values. A hook that changes
// a register of the call, at entry or return, changes a digest: so no case says what is right.
#include "tests/firmware/torture/torture.hpp"

#include <arm_neon.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

namespace torture::TORTURE_LEVEL {
namespace {

// ---- many of one kind ----

TORTURE_CALL uint64_t take_integers(int8_t a, uint8_t b, int16_t c, uint16_t d, int32_t e,
                                    uint32_t f, int64_t g, uint64_t h, int8_t i, uint8_t j,
                                    int16_t k, uint16_t l, int32_t m, uint32_t n, int64_t o,
                                    uint64_t p, bool q, char r, int s, long t, int8_t u, int16_t v,
                                    int32_t w, uint64_t x) {
    const int64_t all[] = {a, b, c, d, e, f, g, static_cast<int64_t>(h),
                           i, j, k, l, m, n, o, static_cast<int64_t>(p),
                           q, r, s, t, u, v, w, static_cast<int64_t>(x)};
    uint64_t digest = 0;
    for (int64_t one : all) digest = mix(digest, static_cast<uint64_t>(one));
    return digest;
}

uint64_t many_integers(uint64_t seed) {
    auto at = [seed](unsigned n) { return draw(seed, n); };
    return take_integers(
        static_cast<int8_t>(at(0)), static_cast<uint8_t>(at(1)), static_cast<int16_t>(at(2)),
        static_cast<uint16_t>(at(3)), static_cast<int32_t>(at(4)), static_cast<uint32_t>(at(5)),
        static_cast<int64_t>(at(6)), at(7), static_cast<int8_t>(at(8)), static_cast<uint8_t>(at(9)),
        static_cast<int16_t>(at(10)), static_cast<uint16_t>(at(11)), static_cast<int32_t>(at(12)),
        static_cast<uint32_t>(at(13)), static_cast<int64_t>(at(14)), at(15), (at(16) & 1) != 0,
        static_cast<char>(at(17)), static_cast<int>(at(18)), static_cast<long>(at(19)),
        static_cast<int8_t>(at(20)), static_cast<int16_t>(at(21)), static_cast<int32_t>(at(22)),
        at(23));
}

TORTURE_CALL double take_doubles(double a, double b, double c, double d, double e, double f,
                                 double g, double h, double i, double j, double k, double l,
                                 double m, double n, double o, double p, double q, double r,
                                 double s, double t) {
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j + 11 * k +
           12 * l + 13 * m + 14 * n + 15 * o + 16 * p + 17 * q + 18 * r + 19 * s + 20 * t;
}

uint64_t many_doubles(uint64_t seed) {
    auto at = [seed](unsigned n) { return draw_double(seed, n); };
    return mix(seed, take_doubles(at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7), at(8),
                                  at(9), at(10), at(11), at(12), at(13), at(14), at(15), at(16),
                                  at(17), at(18), at(19)));
}

struct Small {
    uint32_t a;
    uint64_t b;
};
struct Odd {
    uint8_t bytes[7];
};
struct Large {
    uint64_t words[25];
};

TORTURE_CALL uint64_t take_mixed(uint64_t a, double b, float c, unsigned __int128 d, uint8_t e,
                                 Small f, double g, Odd h, Large i, float64x2_t j, uint16_t k,
                                 unsigned __int128 l, long double m, double n, float o, double p,
                                 double q, double r, double s, Small t, int u, float64x2_t v) {
    uint64_t digest = mix(mix(mix(mix(mix(0, a), b), c), d), uint64_t{e});
    digest = mix(mix(mix(digest, uint64_t{f.a}), f.b), g);
    for (uint8_t byte : h.bytes) digest = mix(digest, uint64_t{byte});
    for (uint64_t word : i.words) digest = mix(digest, word);
    digest = mix(mix(mix(mix(digest, j[0]), j[1]), uint64_t{k}), l);
    digest = mix(mix(mix(mix(mix(mix(mix(digest, m), n), o), p), q), r), s);
    return mix(mix(mix(mix(mix(digest, uint64_t{t.a}), t.b), u), v[0]), v[1]);
}

uint64_t mixed_arguments(uint64_t seed) {
    Large large;
    for (unsigned n = 0; n < 25; ++n) large.words[n] = draw(seed, 100 + n);
    const Odd odd = {{1, 2, 3, static_cast<uint8_t>(seed), 5, 6, 7}};
    const auto wide = (static_cast<unsigned __int128>(draw(seed, 1)) << 64) | draw(seed, 2);
    const float64x2_t vector = {draw_double(seed, 3), draw_double(seed, 4)};
    return take_mixed(draw(seed, 5), draw_double(seed, 6), 1.5f, wide, 200, Small{7, draw(seed, 7)},
                      draw_double(seed, 8), odd, large, vector, 65535, wide + 1, 3.25L,
                      draw_double(seed, 9), -0.5f, 1, 2, 3, 4, Small{8, draw(seed, 10)}, -3,
                      vector + vector);
}

// ---- variadic ----

struct Quad {
    double d[4];
};

TORTURE_CALL uint64_t take_variadic(const char* kinds, ...) {
    va_list list;
    va_start(list, kinds);
    uint64_t digest = 0;
    for (; *kinds != '\0'; ++kinds) {
        switch (*kinds) {
        case 'i': digest = mix(digest, va_arg(list, int)); break;
        case 'l': digest = mix(digest, va_arg(list, uint64_t)); break;
        case 'd': digest = mix(digest, va_arg(list, double)); break;
        case 'L': digest = mix(digest, va_arg(list, long double)); break;
        case 'w': digest = mix(digest, va_arg(list, unsigned __int128)); break;
        case 's': {
            const Small small = va_arg(list, Small);
            digest = mix(mix(digest, uint64_t{small.a}), small.b);
            break;
        }
        case 'q': {
            const Quad quad = va_arg(list, Quad);
            for (double one : quad.d) digest = mix(digest, one);
            break;
        }
        case 'b': {
            const Large large = va_arg(list, Large);
            for (uint64_t word : large.words) digest = mix(digest, word);
            break;
        }
        default: TORTURE_EXPECT(false);
        }
    }
    va_end(list);
    return digest;
}

uint64_t variadic(uint64_t seed) {
    const Small small = {3, draw(seed, 1)};
    const Quad quad = {{draw_double(seed, 2), 2, 3, draw_double(seed, 5)}};
    Large large;
    for (unsigned n = 0; n < 25; ++n) large.words[n] = draw(seed, 200 + n);
    const auto wide = static_cast<unsigned __int128>(seed) << 37;
    return take_variadic("idLswqbidLwqsdddddLil", -5, 2.5, 7.125L, small, wide, quad, large, 9,
                         -1.5, -2.0L, wide + 1, quad, small, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0L, 77,
                         draw(seed, 9));
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

// ---- results in vector registers ----

struct Floats {
    float f[4];
};
struct Vectors {
    float64x2_t v[4];
};

TORTURE_CALL Quad return_quad(Quad a, Quad b) {
    return {{a.d[0] + b.d[3], a.d[1] - b.d[2], a.d[2] + b.d[1], a.d[3] - b.d[0]}};
}
TORTURE_CALL Floats return_floats(Floats a, float by) {
    return {{a.f[3] * by, a.f[2] * by, a.f[1] * by, a.f[0] * by}};
}
TORTURE_CALL Vectors return_vectors(Vectors a, Vectors b) {
    return {{a.v[0] + b.v[3], a.v[1] + b.v[2], a.v[2] + b.v[1], a.v[3] + b.v[0]}};
}
TORTURE_SEEN float64x2_t sum_vectors(float64x2_t a, float64x2_t b, float64x2_t c, float64x2_t d,
                                     float64x2_t e, float64x2_t f, float64x2_t g, float64x2_t h,
                                     float64x2_t i, float64x2_t j) {
    return a - b + c - d + e - f + g - h + i - j;
}

uint64_t vector_results(uint64_t seed) {
    auto at = [seed](unsigned n) { return draw_double(seed, n); };
    const Quad quad = return_quad({{at(0), at(1), at(2), at(3)}}, {{at(4), at(5), at(6), at(7)}});
    const Floats floats = return_floats({{1, 2, 3, 4}}, 0.5f);
    Vectors a, b;
    for (unsigned n = 0; n < 4; ++n) {
        a.v[n] = float64x2_t{at(10 + n), at(20 + n)};
        b.v[n] = float64x2_t{at(30 + n), at(40 + n)};
    }
    const Vectors sum = return_vectors(a, b);
    const float64x2_t folded = sum_vectors(sum.v[0], sum.v[1], sum.v[2], sum.v[3], a.v[0], a.v[1],
                                           b.v[0], b.v[1], a.v[2], b.v[2]);
    uint64_t digest = mix(mix(seed, folded[0]), folded[1]);
    for (double one : quad.d) digest = mix(digest, one);
    for (float one : floats.f) digest = mix(digest, one);
    for (const float64x2_t& one : sum.v) digest = mix(mix(digest, one[0]), one[1]);
    return digest;
}

// ---- results by x8, in pairs, wide ----

TORTURE_CALL Large return_large(uint64_t seed, Large from, unsigned depth) {
    if (depth > 0) from = return_large(seed + 1, from, depth - 1);
    Large result;
    for (unsigned n = 0; n < 25; ++n) result.words[n] = mix(from.words[24 - n], seed + n);
    return result;
}

uint64_t large_results(uint64_t seed) {
    Large from;
    for (unsigned n = 0; n < 25; ++n) from.words[n] = draw(seed, n);
    const Large got = return_large(seed, from, 3);
    uint64_t digest = 0;
    for (uint64_t word : got.words) digest = mix(digest, word);
    return digest;
}

struct Pair {
    uint64_t low;
    uint64_t high;
};
struct Triple {
    uint32_t a, b, c;
};
struct Blend {
    double d;
    uint64_t u;
};

TORTURE_CALL Pair return_pair(uint64_t a, uint64_t b) { return {b ^ 1, a ^ 2}; }
TORTURE_CALL Triple return_triple(Triple in) { return {in.c + 1, in.a + 2, in.b + 3}; }
TORTURE_CALL Odd return_odd(Odd in) {
    for (uint8_t& byte : in.bytes) byte = static_cast<uint8_t>(byte * 3);
    return in;
}
TORTURE_CALL Blend return_blend(Blend in) { return {in.d * 2, in.u * 2}; }
TORTURE_CALL bool return_bool(uint64_t in) { return (in & 1) != 0; }
TORTURE_CALL int8_t return_char(int in) { return static_cast<int8_t>(in); }
TORTURE_SEEN float return_float(float in) { return in / 8; }

uint64_t small_results(uint64_t seed) {
    const Pair pair = return_pair(draw(seed, 0), draw(seed, 1));
    const Triple triple = return_triple({1, 2, static_cast<uint32_t>(seed)});
    const Odd odd = return_odd({{1, 2, 3, 4, 5, 6, 77}});
    const Blend blend = return_blend({draw_double(seed, 2), seed});
    uint64_t digest = mix(mix(seed, pair.low), pair.high);
    for (uint32_t one : {triple.a, triple.b, triple.c}) digest = mix(digest, uint64_t{one});
    for (uint8_t byte : odd.bytes) digest = mix(digest, uint64_t{byte});
    digest = mix(mix(mix(digest, blend.d), blend.u), return_float(3.0f));
    return mix(digest, return_bool(3) + 2 * return_bool(4) + 4 * return_char(0x1ff));
}

TORTURE_CALL unsigned __int128 multiply_wide(unsigned __int128 a, uint64_t b, unsigned __int128 c) {
    return a * b + c;
}
TORTURE_CALL __int128 divide_wide(int shift, __int128 a, __int128 b) { return (a / b) << shift; }

uint64_t wide_integers(uint64_t seed) {
    const auto a = (static_cast<unsigned __int128>(draw(seed, 0)) << 64) | draw(seed, 1);
    const uint64_t b = draw(seed, 2) | 1;
    const unsigned __int128 product = multiply_wide(a >> 64, b, 5);
    const __int128 quotient = divide_wide(3, -static_cast<__int128>(product >> 1), 12345);
    return mix(mix(seed, product), static_cast<unsigned __int128>(quotient));
}

TORTURE_CALL long double evaluate(long double x, const long double* c, int count) {
    long double sum = 0;
    for (int n = count; n-- > 0;) sum = sum * x + c[n];
    return sum;
}

uint64_t quad_precision(uint64_t seed) {
    const long double c[] = {1.0L, -2.5L, 3.25L, static_cast<long double>(seed & 0xffff)};
    return mix(seed, evaluate(1.0L / 4, c, 4));
}

const Case cases[] = {
    {"many_integers", many_integers},
    {"many_doubles", many_doubles},
    {"mixed_arguments", mixed_arguments},
    {"variadic", variadic},
    {"formatted", formatted},
    {"vector_results", vector_results},
    {"large_results", large_results},
    {"small_results", small_results},
    {"wide_integers", wide_integers},
    {"quad_precision", quad_precision},
};

}  // namespace

extern const std::span<const Case> call_cases;
const std::span<const Case> call_cases = cases;

}  // namespace torture::TORTURE_LEVEL
