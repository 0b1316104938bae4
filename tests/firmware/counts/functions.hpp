// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

extern "C" {
void counts_loop(std::uint64_t rounds);
void counts_loop_odd(std::uint64_t rounds);
void counts_loop_local(std::uint64_t rounds);
void counts_empty();
std::uint64_t counts_few(std::uint64_t n);
std::uint64_t counts_caller(std::uint64_t calls);  // recording the callees takes much of its time
std::uint64_t counts_mixed(std::uint64_t n);       // own work, and calls of different lengths
std::uint64_t counts_recursive(std::uint64_t n);
std::uint64_t counts_fibonacci(std::uint64_t n);
std::uint64_t counts_catcher(std::uint64_t n);  // longjmp leaves its 8,000-instruction callee
std::uint64_t counts_handler(std::uint64_t n);  // for an interrupt; calls counts_handled
void counts_outer(std::uint64_t n);             // only calls, three levels deep
}
