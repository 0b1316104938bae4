// SPDX-License-Identifier: Apache-2.0
// Programs whose functions end by jumps, or that call deep. All their functions are traced.
#pragma once

#include <cstdint>

// A state machine, an interpreter, and two coroutines that resume each other: about so many jumps.
std::uint64_t run_states(std::uint64_t jumps);
std::uint64_t run_interpreter(std::uint64_t jumps);
std::uint64_t run_coroutines(std::uint64_t jumps);
// Two functions that call each other, so deep.
std::uint64_t run_deep(std::uint64_t calls);

// Some of the state machine's and the interpreter's functions, each for a recorder of its own.
extern const void* const for_profile[2];
extern const void* const for_duration[2];
