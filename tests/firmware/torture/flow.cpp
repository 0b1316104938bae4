// SPDX-License-Identifier: Apache-2.0
// Control flow: recursion, tail calls, setjmp and longjmp, calls through pointers, jumps through
// tables, stacks of changing size. Hooks of returns must follow all of it. A branch to a body
// without a landing pad faults here if BTI is enforced.
#include "tests/firmware/torture/torture.hpp"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

namespace torture::TORTURE_LEVEL {
namespace {

// ---- recursion ----

TORTURE_CALL unsigned fibonacci(unsigned n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
TORTURE_CALL double descend(unsigned depth, double x) {
    if (depth % 16 == 0) toggle();
    if (depth == 0) return x;
    const double below = descend(depth - 1, x * 0.5 + depth);
    if (depth % 16 == 8) toggle();
    return below + x;
}

uint64_t recursion(uint64_t seed) {
    return mix(mix(seed, uint64_t{fibonacci(10)}), descend(100, draw_double(seed, 1)));
}

// ---- tail calls ----
// Jumps at -O2 and -Os. -O0 has no such optimisation: there they are ordinary calls.

template <unsigned which>
TORTURE_CALL uint64_t tail(unsigned n, uint64_t digest) {
    if (which == 1 && n % 8 == 0) toggle();  // makes a frame before the tail call
    return n == 0 ? digest + which : tail<(which + 1) % 3>(n - 1, mix(digest + which, uint64_t{n}));
}

using Step = uint64_t (*)(unsigned n, uint64_t digest);
Step volatile steps[] = {tail<0>, tail<1>, tail<2>};
TORTURE_CALL uint64_t tail_through_pointer(unsigned n, uint64_t digest) {
    return steps[n % 3](n, digest);
}
// A tail call's result passes through all hooks in between.
struct Four {
    double d[4];
};
TORTURE_CALL Four tail_leaf(Four in) { return {{in.d[3], in.d[2], in.d[1], in.d[0]}}; }
TORTURE_CALL Four tail_middle(Four in) { return tail_leaf({{in.d[0] + 1, in.d[1], in.d[2], 4}}); }
TORTURE_CALL Four tail_top(Four in) { return tail_middle(in); }

uint64_t tail_calls(uint64_t seed) {
    uint64_t digest = tail<0>(40, seed);
    for (unsigned n = 0; n < 6; ++n) digest = tail_through_pointer(10 + n, digest);
    const Four four = tail_top({{1, 2, 3, draw_double(seed, 0)}});
    return mix(mix(mix(mix(digest, four.d[0]), four.d[1]), four.d[2]), four.d[3]);
}

// ---- setjmp and longjmp ----

jmp_buf outer, inner;
void (*volatile leave)(jmp_buf, int) = longjmp;

TORTURE_CALL void throw_from(unsigned depth, jmp_buf* to, int value) {
    if (depth > 0) {
        throw_from(depth - 1, to, value);
    } else {
        leave(*to, value);
    }
    fail(__FILE__, __LINE__);
}
TORTURE_CALL uint64_t plain_call(uint64_t x) { return mix(x, uint64_t{17}); }
TORTURE_CALL double plain_double(double x) { return x * 2 + 1; }

// Lands here repeatedly. Each time the next call has the SP of the abandoned frames.
TORTURE_CALL uint64_t jump_often(uint64_t seed) {
    uint64_t volatile digest = seed;
    double volatile sum = 0;
    int volatile round = 0;
    while (round < 20) {
        round = round + 1;
        const int value = setjmp(outer);
        if (value == 0) throw_from(static_cast<unsigned>(round), &outer, round);
        TORTURE_EXPECT(value == round);
        digest = mix(plain_call(digest), static_cast<uint64_t>(value));
        sum = plain_double(sum) / 2;
        if (round % 5 == 0) toggle();
    }
    return mix(digest, double{sum});
}

// Leaves a chain of tail calls in the middle: the hooked frames share one SP.
template <int value>
TORTURE_CALL uint64_t leap(unsigned n) {
    if (n == 0) longjmp(outer, value);
    return leap<11 - value>(n - 1);
}
TORTURE_CALL uint64_t jump_from_tail(uint64_t seed) {
    uint64_t volatile digest = seed;
    unsigned volatile n = 0;
    while (n < 12) {
        const int value = setjmp(outer);
        if (value == 0) leap<6>(n);
        TORTURE_EXPECT(value == (n % 2 == 0 ? 6 : 5));
        if (n % 4 != 3) digest = plain_call(digest);
        n = n + 1;
    }
    return digest;  // the last jump's frames are still on the shadow stack
}
TORTURE_CALL uint64_t jump_then_tail(uint64_t seed) {
    const uint64_t digest = jump_from_tail(seed);
    return plain_call(digest);
}

// Catches a jump inside a caught jump, like nested pcalls.
TORTURE_CALL uint64_t catch_inner(uint64_t seed) {
    const int value = setjmp(inner);
    if (value == 0) throw_from(3, &inner, 9);
    TORTURE_EXPECT(value == 9);
    return plain_call(seed);
}
TORTURE_CALL uint64_t jump_nested(uint64_t seed) {
    uint64_t volatile digest = seed;
    const int value = setjmp(outer);
    if (value == 0) {
        digest = catch_inner(digest);
        throw_from(4, &outer, 0);  // arrives as 1
    }
    TORTURE_EXPECT(value == 1);
    digest = catch_inner(digest);
    return mix(digest, plain_double(value));
}

uint64_t long_jumps(uint64_t seed) {
    uint64_t digest = jump_often(seed);
    for (unsigned n = 0; n < 5; ++n) digest = jump_then_tail(digest);
    return jump_nested(digest);
}

// ---- calls through pointers ----

unsigned comparisons_left;
int compare_words(const void* a, const void* b) {
    if (comparisons_left-- == 0) longjmp(outer, 3);
    const auto x = *static_cast<const uint64_t*>(a), y = *static_cast<const uint64_t*>(b);
    return x < y ? -1 : x > y;
}

// Leaves the library's qsort from inside, and then continues. The last time it finds a word.
uint64_t sorting(uint64_t seed) {
    uint64_t volatile digest = seed;
    unsigned volatile round = 0;
    while (round < 7) {
        uint64_t words[32];
        for (unsigned n = 0; n < 32; ++n) words[n] = draw(seed, n + round);
        comparisons_left = round < 6 ? round * 9 : ~0u;
        if (setjmp(outer) == 0) {
            qsort(words, 32, sizeof words[0], compare_words);
            TORTURE_EXPECT(round == 6);
            for (uint64_t word : words) digest = mix(digest, word);
            const uint64_t wanted = draw(seed, 7 + round);
            const void* found = bsearch(&wanted, words, 32, sizeof words[0], compare_words);
            TORTURE_EXPECT(found != nullptr && memcmp(found, &wanted, sizeof wanted) == 0);
        }
        digest = plain_call(digest);
        round = round + 1;
    }
    return digest;
}

struct Square {
    virtual uint64_t area(uint64_t x) const { return x * x; }
    uint64_t twice(uint64_t x) const { return 2 * area(x); }
};
struct Line final : Square {
    uint64_t area(uint64_t x) const override { return mix(x, uint64_t{1}); }
};

template <typename Callable>
TORTURE_CALL uint64_t apply(Callable callable, unsigned count) {
    uint64_t sum = 0;
    for (unsigned n = 0; n < count; ++n) sum += callable(n);
    return sum;
}

using Binary = double (*)(double, double);
TORTURE_CALL double add(double a, double b) { return a + b; }
TORTURE_CALL double subtract(double a, double b) { return a - b; }
Binary volatile binaries[] = {add, subtract, [](double a, double b) { return a * b; }};

uint64_t callbacks(uint64_t seed) {
    double value = draw_double(seed, 0);
    for (unsigned n = 0; n < 12; ++n) value = binaries[n % 3](value, 0.5 + n % 2);
    Square square;
    Line line;
    const Square* volatile shapes[] = {&square, &line, &square};
    uint64_t digest = mix(seed, value);
    for (unsigned n = 0; n < 3; ++n) digest = mix(digest, shapes[n]->area(digest));
    uint64_t (Square::*volatile member)(uint64_t) const = &Square::area;
    uint64_t (Square::*volatile plain)(uint64_t) const = &Square::twice;
    const Square* shape = shapes[1];
    digest = mix(digest, (shape->*member)(digest));
    digest = mix(digest, (shape->*plain)(digest));
    const uint64_t sum = apply([seed, value](unsigned n) { return seed * n + (value > n); }, 9);
    return mix(digest, sum);
}

// ---- jumps through tables, stacks of changing size ----

TORTURE_CALL uint64_t dispatch(unsigned operation, uint64_t x) {
    switch (operation) {
    case 0: return plain_call(x);
    case 1: return x << 3;
    case 2: return x * 7;
    case 3: return plain_call(x + 1) ^ 5;
    case 4: return ~x;
    case 5: return x >> 1;
    case 6: return mix(x, plain_double(static_cast<double>(x & 0xff)));
    case 7: return x - 9;
    case 8: return x ^ 0xff00ff;
    default: return 1;
    }
}
TORTURE_CALL uint64_t interpret(const uint8_t* code, uint64_t x) {
    static const void* const labels[] = {&&step, &&call, &&stop, &&flip};
    goto* labels[*code];
step:
    x = mix(x, uint64_t{*code});
    goto* labels[*++code];
call:
    x = plain_call(x);
    goto* labels[*++code];
flip:
    x = ~x;
    goto* labels[*++code];
stop:
    return x;
}

uint64_t jump_tables(uint64_t seed) {
    static const uint8_t code[] = {0, 1, 3, 3, 1, 0, 0, 1, 3, 1, 2};
    uint64_t digest = seed;
    for (unsigned n = 0; n < 40; ++n) digest = dispatch(n % 10, digest);
    return interpret(code, digest);
}

TORTURE_CALL uint64_t fill(uint8_t* bytes, size_t count, uint64_t seed) {
    for (size_t n = 0; n < count; ++n) bytes[n] = static_cast<uint8_t>(draw(seed, n));
    return bytes[count - 1];
}
TORTURE_CALL uint64_t grow(size_t count, uint64_t digest) {
    auto* first = static_cast<uint8_t*>(__builtin_alloca(count));
    digest = mix(digest, fill(first, count, digest));
    auto* second = static_cast<uint8_t*>(__builtin_alloca(count + 33));
    digest = mix(digest, fill(second, count + 33, digest));
    memcpy(second, first, count);
    TORTURE_EXPECT(memcmp(first, second, count) == 0);
    return count > 200 ? digest : grow(count * 2 + 1, digest);
}
uint64_t moving_stack(uint64_t seed) { return grow(3, grow(16, seed)); }

uint64_t library(uint64_t seed) {
    char* end = nullptr;
    const double number = strtod("-12.5e2xyz", &end);
    TORTURE_EXPECT(number == -1250 && strcmp(end, "xyz") == 0);
    TORTURE_EXPECT(strtoul("ffffffffffffffff", nullptr, 16) == ~0ul);
    auto* memory = static_cast<char*>(malloc(100 + seed % 100));
    TORTURE_EXPECT(memory != nullptr);
    memset(memory, 'x', 99);
    memory[99] = '\0';
    auto* grown = static_cast<char*>(realloc(memory, 4000));
    TORTURE_EXPECT(grown != nullptr && strlen(grown) == 99);
    free(grown);
    const div_t parts = div(-17, 5);
    return mix(mix(mix(seed, number), parts.quot), parts.rem);
}

const Case cases[] = {
    {"recursion", recursion},       {"tail_calls", tail_calls}, {"long_jumps", long_jumps},
    {"sorting", sorting},           {"callbacks", callbacks},   {"jump_tables", jump_tables},
    {"moving_stack", moving_stack}, {"library", library},
};

}  // namespace

extern const std::span<const Case> flow_cases;
const std::span<const Case> flow_cases = cases;

}  // namespace torture::TORTURE_LEVEL
