// SPDX-License-Identifier: Apache-2.0
// Instrumented functions for the tracer's tests (traced.cpp).
#pragma once

#include <csetjmp>
#include <cstdint>

#include "hal/symbols.hpp"

namespace nopscope::selftest {

std::uint64_t leaf(std::uint64_t x);             // x + 1
std::uint64_t calls_leaf(std::uint64_t x);       // leaf(x) + 1
std::uint64_t tail_calls_leaf(std::uint64_t x);  // leaf(x + 1), by a jump
std::uint64_t sum_to(std::uint64_t n);           // n calls deep
// Calls `throws`, which longjmps out of `depth` calls back to `catches`. Then calls leaf.
std::uint64_t catches(unsigned depth);
std::uint64_t throws(unsigned depth);
extern std::jmp_buf caught;                        // where throws() lands
extern void (*volatile leave)(std::jmp_buf, int);  // longjmp, or the tracer's wrapper
// Calls throws(0) and lands `times` times, with the same SP each time.
std::uint64_t catches_often(unsigned times);

void calls_back(void (*function)());
void jumps_back(void (*function)());  // by a jump
void masks(std::uint64_t ticks);      // reports interrupts as masked for `ticks`, by its caller
void breaks();                        // a breakpoint in a function without a frame
void breaks_in_frame();

// A function as an element of the list for Sites::of().
template <typename F>
const void* pointer(F* function) {
    return reinterpret_cast<const void*>(function);
}
template <typename F>
std::uint64_t address(F* function) {
    return hal::address_of(pointer(function));
}
// An address in calls_leaf, behind a call.
inline bool is_in_calls_leaf(std::uint64_t at) {
    return at > address(calls_leaf) && at < address(calls_leaf) + 64;
}
inline const void* const leaf_only[] = {pointer(leaf)};
inline const void* const both[] = {pointer(leaf), pointer(calls_leaf)};
inline const void* const caller_only[] = {pointer(calls_leaf)};
inline const void* const back_only[] = {pointer(calls_back)};
inline const void* const sum_only[] = {pointer(sum_to)};
inline const void* const throws_only[] = {pointer(throws)};
inline const void* const throwing[] = {pointer(leaf), pointer(throws), pointer(catches)};
// What the tests of contexts call.
inline const void* const traced[] = {pointer(leaf),   pointer(calls_leaf), pointer(sum_to),
                                     pointer(throws), pointer(catches),    pointer(calls_back)};

}  // namespace nopscope::selftest

extern "C" {
[[noreturn]] void __wrap_longjmp(std::jmp_buf, int);  // longjmp.S of tracer/arch
}
