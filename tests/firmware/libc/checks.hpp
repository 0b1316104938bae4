// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

// How many results of newlib's assembly were wrong; prints the first few. All functions are called
// through pointers, so that each needs its landing pad.
unsigned check_memory_functions();
unsigned check_string_functions();
unsigned check_jumps();

// Results compared so far.
extern std::size_t checks_made;
