// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

// Each returns how many results of newlib's assembly were wrong, and prints the first few. They
// call the functions through pointers, so that each needs its landing pad.
unsigned check_memory_functions();
unsigned check_string_functions();
unsigned check_jumps();

// How many results were compared so far.
extern std::size_t checks_made;
