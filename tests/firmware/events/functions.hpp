// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

extern "C" {
void events_leaf(std::uint64_t n);        // events: n
void events_caller(std::uint64_t n);      // 4, and those of a leaf for each number below n
void events_recursive(std::uint64_t n);   // n, and those of n - 1, down to 0
void events_tail(std::uint64_t n);        // 2, and those of leaf n, by a tail call
void events_of_core(std::uint64_t core);  // 100 * core + 1, and those of caller core + 2
}
