// SPDX-License-Identifier: Apache-2.0
// Compares each function of newlib's aarch64 assembly with a reference loop, for all small lengths
// and alignments: the assembly has another path for nearly each of them.
#include "tests/firmware/libc/checks.hpp"

#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>

std::size_t checks_made = 0;

namespace {

// A pointer to the function, so that the call needs its landing pad.
template <auto* function>
decltype(function) volatile through = function;

constexpr std::size_t longest = 400;
constexpr std::size_t alignments = 16;
using Buffer = unsigned char[longest + 4 * alignments];
alignas(64) Buffer source, target, expected;

std::uint32_t seed = 1;
unsigned char next_byte() {
    seed = seed * 1664525 + 1013904223;
    return seed >> 24;
}

// All lengths up to 160, then some that reach the long loops.
std::size_t next_length(std::size_t length) { return length < 160 ? length + 1 : length + 37; }

unsigned wrong = 0;
void check(bool right, const char* name, std::size_t length, std::size_t to, std::size_t from) {
    ++checks_made;
    if (right || ++wrong > 10) return;
    std::printf("%s is wrong: length %zu, alignments %zu and %zu\n", name, length, to, from);
}

bool same(const Buffer& a, const Buffer& b) {
    for (std::size_t i = 0; i < sizeof a; ++i) {
        if (a[i] != b[i]) return false;
    }
    return true;
}

void fill() {
    for (std::size_t i = 0; i < sizeof(Buffer); ++i) {
        source[i] = next_byte();
        target[i] = expected[i] = next_byte();
    }
}

int sign(int value) { return (value > 0) - (value < 0); }

void copies(std::size_t length, std::size_t to, std::size_t from) {
    fill();
    for (std::size_t i = 0; i < length; ++i) expected[to + i] = source[from + i];
    void* result = through<::memcpy>(target + to, source + from, length);
    check(result == target + to && same(target, expected), "memcpy", length, to, from);

    fill();
    for (std::size_t i = 0; i < length; ++i) source[i + from] = target[i + from];
    for (std::size_t i = 0; i < length; ++i) expected[to + i] = source[from + i];
    result = through<::memmove>(target + to, target + from, length);  // overlaps in both directions
    check(result == target + to && same(target, expected), "memmove", length, to, from);
}

void sets(std::size_t length, std::size_t to) {
    for (int value : {0, 0x5a}) {
        fill();
        for (std::size_t i = 0; i < length; ++i) expected[to + i] = value;
        void* result = through<::memset>(target + to, value | 0x100, length);
        check(result == target + to && same(target, expected), "memset", length, to, value);
    }
}

void searches(std::size_t length, std::size_t from) {
    fill();
    for (auto& byte : source) byte |= 1;
    for (std::size_t at = 0; at <= length; at += 1 + at / 8) {
        auto* start = source + from;
        source[from + at] = 2;
        check(through<::memchr>(start, 2, length) == (at < length ? start + at : nullptr), "memchr",
              length, at, from);
        for (std::size_t i = 0; i < length; ++i) target[i] = start[i];
        if (at < length) target[at] = 3;
        check(sign(through<::memcmp>(start, target, length)) == (at < length ? -1 : 0), "memcmp",
              length, at, from);
        source[from + at] |= 1;
    }
}

// Makes a string of `length` bytes without `mark`, at an alignment.
char* make_string(Buffer& buffer, std::size_t alignment, std::size_t length, char mark) {
    char* text = reinterpret_cast<char*>(buffer) + alignment;
    for (std::size_t i = 0; i < length; ++i) {
        text[i] = 'a' + next_byte() % 26;
        if (text[i] == mark) text[i] = '.';
    }
    text[length] = 0;
    return text;
}

void lengths_and_copies(std::size_t length, std::size_t to, std::size_t from) {
    fill();
    const char* text = make_string(source, from, length, 0);
    char* out = reinterpret_cast<char*>(target) + to;
    check(through<::strlen>(text) == length, "strlen", length, 0, from);
    for (std::size_t limit : {std::size_t{0}, length / 2, length, length + 1, length + 100}) {
        check(through<::strnlen>(text, limit) == (limit < length ? limit : length), "strnlen",
              length, limit, from);
    }
    for (std::size_t i = 0; i <= length; ++i) expected[to + i] = text[i];
    check(through<::strcpy>(out, text) == out && same(target, expected), "strcpy", length, to,
          from);
    for (std::size_t i = 0; i <= length; ++i) out[i] = '#';
    check(through<::stpcpy>(out, text) == out + length && same(target, expected), "stpcpy", length,
          to, from);
}

void finds_in_strings(std::size_t length, std::size_t from) {
    fill();
    char* text = make_string(source, from, length, 'm');
    check(through<::strchr>(text, 'm') == nullptr, "strchr", length, length, from);
    check(through<::strchrnul>(text, 'm') == text + length, "strchrnul", length, length, from);
    check(through<::strrchr>(text, 'm') == nullptr, "strrchr", length, length, from);
    check(through<::rawmemchr>(text, 0) == text + length, "rawmemchr", length, length, from);
    check(through<::strchr>(text, 0) == text + length, "strchr", length, 0, from);
    text[length + 1] = 'm';  // after the end
    for (std::size_t at = 0; at < length; at += 1 + at / 4) {
        text[at] = 'm';
        check(through<::strchr>(text, 'm') == text, "strchr", length, at, from);
        check(through<::strchr>(text + at, 'm') == text + at, "strchr", length, at, from);
        check(through<::strchrnul>(text + at, 'm') == text + at, "strchrnul", length, at, from);
        check(through<::strrchr>(text, 'm') == text + at, "strrchr", length, at, from);
        check(through<::rawmemchr>(text + at, 'm') == text + at, "rawmemchr", length, at, from);
    }
}

void compares_strings(std::size_t length, std::size_t to, std::size_t from) {
    fill();
    const char* a = make_string(source, from, length, 0);
    char* b = reinterpret_cast<char*>(target) + to;
    for (std::size_t i = 0; i <= length; ++i) b[i] = a[i];
    check(through<::strcmp>(a, b) == 0, "strcmp", length, to, from);
    check(through<::strncmp>(a, b, length + 8) == 0, "strncmp", length, to, from);
    for (std::size_t at = 0; at < length; at += 1 + at / 2) {
        const char was = b[at];
        b[at] = '~';
        check(sign(through<::strcmp>(a, b)) == -1 && sign(through<::strcmp>(b, a)) == 1, "strcmp",
              length, at, from);
        check(through<::strncmp>(a, b, at) == 0, "strncmp", length, at, from);
        check(sign(through<::strncmp>(a, b, at + 1)) == -1, "strncmp", length, at, from);
        b[at] = was;
    }
}

std::jmp_buf back;
[[gnu::noinline]] void jump(int depth) {
    void (*volatile deeper)(int) = jump;
    if (depth > 0) deeper(depth - 1);
    std::longjmp(back, 7);
}

}  // namespace

unsigned check_memory_functions() {
    wrong = 0;
    for (std::size_t length = 0; length <= longest; length = next_length(length)) {
        for (std::size_t from = 0; from < alignments; from += 1 + length / 64) {
            for (std::size_t to : {std::size_t{0}, from, std::size_t{3}, std::size_t{8}}) {
                copies(length, to, from);
            }
            sets(length, from);
            searches(length, from);
        }
    }
    return wrong;
}

unsigned check_string_functions() {
    wrong = 0;
    for (std::size_t length = 0; length <= longest; length = next_length(length)) {
        for (std::size_t from = 0; from < alignments; from += 1 + length / 32) {
            for (std::size_t to : {std::size_t{0}, from, std::size_t{5}}) {
                lengths_and_copies(length, to, from);
                compares_strings(length, to, from);
            }
            finds_in_strings(length, from);
        }
    }
    return wrong;
}

unsigned check_jumps() {
    wrong = 0;
    for (int depth = 0; depth < 5; ++depth) {
        const volatile int before = depth;
        const int result = setjmp(back);
        if (result == 0) jump(depth);
        check(result == 7 && before == depth, "longjmp", depth, 0, 0);
    }
    return wrong;
}
